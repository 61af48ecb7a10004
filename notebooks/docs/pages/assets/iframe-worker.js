// Browsers refuse workers to pages that are opened as files, and the search runs in one: here it runs
// in a hidden frame instead.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame;
      this.receive = (event) => {
        if (event.source !== frame.contentWindow) return;
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      };
      window.addEventListener("message", this.receive);
      this.ready = new Promise((resolve) => {
        const inside = frame.contentDocument;
        inside.open();
        inside.write("<!doctype html><body></body>");
        inside.close();
        frame.contentWindow.postMessage = (data) => {
          window.dispatchEvent(new MessageEvent("message", { data, source: frame.contentWindow }));
        };
        frame.contentWindow.importScripts = (...urls) =>
          Promise.all(urls.map((one) => this.load(one)));
        this.load(url).then(resolve);
      });
    }
    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = String(url);
        script.addEventListener("load", resolve);
        script.addEventListener("error", reject);
        this.frame.contentDocument.body.append(script);
      });
    }
    postMessage(data) {
      // The search takes a hyphen before a word for "without this word": --suspects is an option.
      if (typeof data.data === "string") data.data = data.data.replace(/(^|\s)-+(?=\w)/g, "$1");
      this.ready.then(() => {
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      });
    }
    terminate() {
      window.removeEventListener("message", this.receive);
      this.frame.remove();
    }
  };
}
