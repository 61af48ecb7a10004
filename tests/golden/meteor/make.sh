#!/bin/sh
# Run the Meteor 1.5 jar on the text of this folder; its output is kept beside it as it is.
# usage: make.sh JAR PARAPHRASES   (pycocoevalcap's spice/lib/Meteor-1.5.jar, meteor/data/paraphrase-en.gz)
set -eu
jar=$1 paraphrases=$2
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The jar itself does not split at no-break and ideographic spaces, as we do.
for text in hypotheses references1 references2; do
    sed 's/\xc2\xa0/ /g; s/\xe3\x80\x80/ /g' $text.txt > "$folder/$text.txt"
done
# Line 1 of both files, line 2 of both, and so on: the references as -r 2 wants them.
paste -d '\n' "$folder/references1.txt" "$folder/references2.txt" > "$folder/pairs"

run() { # NAME REFERENCES OPTION...
    name=$1 references=$2
    shift 2
    for kind in scores statistics; do
        test $kind = scores || set -- "$@" -ssOut
        java -Duser.language=en -Duser.country=US -Dfile.encoding=UTF-8 -Xmx2G \
            -jar "$jar" "$folder/hypotheses.txt" "$folder/$references" -l en "$@" > "$name.$kind.txt"
    done
}

run full references1.txt -a "$paraphrases"
run exact-stem references1.txt -m "exact stem"
run lower references1.txt -a "$paraphrases" -lower
run norm references1.txt -a "$paraphrases" -norm
run two-references pairs -a "$paraphrases" -r 2
run two-references-norm-exact-stem pairs -m "exact stem" -norm -r 2
