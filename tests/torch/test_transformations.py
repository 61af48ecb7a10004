"""The transformations for PyTorch against the NumPy reference, and their gradients by gradcheck."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given as generated
from hypothesis import strategies as st

from coverage_eval import attention
from coverage_eval.attention import find_transformation

torch = pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")
ours = pytest.importorskip("coverage_eval.torch")

NAMES = ["sparsemax", "constrained_softmax", "constrained_sparsemax"]
BOUNDED = NAMES[1:]
# Older versions of torch.compile break the graph at these functions, but compute the same.
ONE_GRAPH = torch.torch_version.TorchVersion(torch.__version__) >= "2.4"
ROWS = 200


def bounds(kind, rng, rows, positions):
    """Realistic bounds; the first bound of a row is infinite if the others hold too little."""
    uniform = rng.uniform(size=(rows, positions))
    u = {
        "uniform": uniform,
        "tight": 0.15 * uniform,
        "credit": np.maximum(rng.integers(1, 4, size=uniform.shape) - 3 * uniform, 0),
        "zero or one": np.round(uniform),
        "loose": np.full_like(uniform, 2.0),
    }[kind]
    u[:, 0] = np.where(u[:, 1:].sum(axis=1) < 1.2, np.inf, u[:, 0])
    return u


def problem(kind, rng, positions=25, scale=2.0):
    z = scale * rng.normal(size=(ROWS, positions))
    mask = rng.uniform(size=z.shape) < 0.8
    mask[:, 0] = True
    u = bounds(kind, rng, *z.shape)
    u[:, 0] = np.where((u * mask).sum(axis=1) < 1.2, np.inf, u[:, 0])
    return z, u, mask


KINDS = ["uniform", "tight", "credit", "zero or one", "loose"]


@pytest.mark.parametrize(
    ("dtype", "tolerance", "gradient_tolerance"),
    [("float32", 1e-6, 2e-5), ("float64", 1e-12, 1e-12)],
)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_the_reference(name, kind, masked, dtype, tolerance, gradient_tolerance):
    rng = np.random.default_rng(1)
    for positions, scale in ((1, 1.0), (2, 0.1), (25, 2.0), (40, 10.0)):
        z, u, mask = (
            a if a.dtype == bool else a.astype(dtype) for a in problem(kind, rng, positions, scale)
        )
        used = {"mask": mask} if masked else {}
        given = (z, u) if name in BOUNDED else (z,)
        theirs = getattr(attention, name)(*given, **used)
        tensors = [torch.tensor(a, requires_grad=True) for a in given]
        result = getattr(ours, name)(*tensors, **{k: torch.tensor(v) for k, v in used.items()})
        assert result.dtype == tensors[0].dtype
        np.testing.assert_allclose(result.detach().numpy(), theirs, rtol=0, atol=tolerance)

        # Gradients are compared in the rows where both have the same words at 0 and at their bound:
        # the gradient jumps there, and rounding decides for a word within about 1e-8.
        alpha = result.detach().numpy()
        same = ((alpha > 0) == (theirs > 0)).all(1)
        if name in BOUNDED:
            same &= ((alpha < u) == (theirs < u)).all(1)
        assert same.mean() > 0.9
        d_alpha = rng.normal(size=z.shape).astype(dtype)
        result.backward(torch.tensor(d_alpha))
        wanted = find_transformation(name).vjp(
            d_alpha, theirs, *given[1:], **(used if name in BOUNDED else {})
        )
        for tensor, gradient in zip(tensors, wanted if name in BOUNDED else [wanted], strict=True):
            np.testing.assert_allclose(
                tensor.grad.numpy()[same], gradient[same], rtol=0, atol=gradient_tolerance
            )


@pytest.mark.parametrize("dim", [0, 1, 2, -2])
@pytest.mark.parametrize("name", NAMES)
def test_any_dimension_and_broadcasting_agree_with_the_reference(name, dim):
    rng = np.random.default_rng(2)
    z, u = rng.normal(size=(4, 5, 6)), rng.uniform(0.5, 1, size=(5, 1))
    given = (z, u) if name in BOUNDED else (z,)
    mask = rng.uniform(size=z.shape) < 0.8
    mask[[0, 2]] = mask[:, [1, 3]] = mask[:, :, [0, 4]] = True
    result = getattr(ours, name)(*map(torch.tensor, given), dim=dim, mask=torch.tensor(mask))
    theirs = getattr(attention, name)(*given, axis=dim, mask=mask)
    np.testing.assert_allclose(result.numpy(), theirs, rtol=0, atol=1e-12, equal_nan=False)


def smooth_problem(seed):
    """Scores and bounds away from kinks; some words reach their bound, one has none."""
    generator = torch.Generator().manual_seed(seed)
    z = 2 * torch.randn(4, 6, dtype=torch.float64, generator=generator)
    u = 0.26 + 0.4 * torch.rand(4, 6, dtype=torch.float64, generator=generator)
    u[0, 0] = torch.inf
    return z, u


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", NAMES)
def test_first_and_second_derivatives_equal_finite_differences(name, seed):
    z, u = (t.requires_grad_() for t in smooth_problem(seed))
    given = (z, u) if name in BOUNDED else (z,)
    function = getattr(ours, name)
    if name in BOUNDED:  # some bounds are reached; otherwise du would be 0
        alpha = function(*given)
        assert ((alpha == u).sum() > 0) & ((alpha < u).sum() > 0)
    assert torch.autograd.gradcheck(function, given, check_forward_ad=True)
    assert torch.autograd.gradcheck(lambda *tensors: function(*tensors, dim=0), given)
    assert torch.autograd.gradgradcheck(function, given, check_fwd_over_rev=True)


@pytest.mark.parametrize("name", ["softmax", *NAMES])
def test_forward_mode_equals_reverse_mode(name):
    """Derivatives along a direction, plain, vectorised and twice, against reverse mode's."""
    z, u = smooth_problem(9)
    mask = torch.ones(6, dtype=torch.bool)
    mask[4] = False
    given = (z, u) if name in BOUNDED else (z,)
    function = partial(getattr(ours, name), mask=mask)
    directions = tuple(torch.tensor(np.random.default_rng(9).normal(size=g.shape)) for g in given)
    alpha, moved = torch.func.jvp(function, given, directions)
    assert torch.equal(alpha, function(*given))
    wanted = sum(
        torch.einsum("rirj,rj->ri", jacobian, direction)
        for jacobian, direction in zip(
            torch.func.jacrev(function, tuple(range(len(given))))(*given), directions, strict=True
        )
    )
    assert torch.allclose(moved, wanted, atol=1e-12)
    assert moved.sum(-1).tolist() == pytest.approx([0] * 4, abs=1e-12)

    def of_a_row(row, direction):
        return torch.func.jvp(function, row, direction)[1]

    assert torch.allclose(torch.vmap(of_a_row)(given, directions), wanted, atol=1e-12)
    with torch.autograd.forward_ad.dual_level():
        dual = function(*map(torch.autograd.forward_ad.make_dual, given, directions))
        assert torch.equal(torch.autograd.forward_ad.unpack_dual(dual).tangent, moved)

    def loss(row):
        return (function(row, *(g[1] for g in given[1:])) ** 2).sum()

    row = z[1]
    assert torch.allclose(
        torch.func.hessian(loss)(row), torch.func.jacrev(torch.func.jacrev(loss))(row)
    )


@pytest.mark.parametrize("name", BOUNDED)
def test_attention_follows_its_bounds_if_no_position_is_between_them(name):
    """For changes that keep their sum, in both modes, and of second order."""
    z = torch.tensor([2.0, 2.0, -5.0], dtype=torch.float64)
    u = torch.tensor([0.4, 0.6, name == "constrained_sparsemax"], dtype=torch.float64)
    change = torch.tensor([0.5, -0.5, 0.0], dtype=torch.float64)
    function = getattr(ours, name)
    _, moved = torch.func.jvp(function, (z, u), (change, change))
    assert torch.equal(moved, change)
    by_scores, by_bounds = torch.func.jacrev(function, (0, 1))(z, u)
    alpha = function(z, u).numpy()
    wanted = [find_transformation(name).vjp(unit, alpha, u.numpy())[1] for unit in np.eye(3)]
    assert not by_scores.any()
    np.testing.assert_allclose(by_bounds.numpy(), wanted, atol=1e-15)

    def loss(u):
        return (function(z, u) ** 2).sum()

    assert change @ torch.func.hessian(loss)(u) @ change == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["softmax", *NAMES])
def test_vmap_over_any_argument_equals_a_loop(name):
    z, u = smooth_problem(8)
    mask = torch.tensor(np.random.default_rng(1).uniform(size=z.shape) < 0.8)
    mask[:, :2] = True
    u[:, 1] = 1.0
    given = [z, u, mask] if name in BOUNDED else [z, mask]

    def call(*given):
        return getattr(ours, name)(*given[:-1], mask=given[-1])

    for mapped in product([0, None], repeat=len(given)):
        if any(d == 0 for d in mapped):
            rows = [g if d == 0 else g[2] for g, d in zip(given, mapped, strict=True)]
            wanted = [
                call(*(g if d is None else g[i] for g, d in zip(rows, mapped, strict=True)))
                for i in range(len(z))
            ]
            found = torch.vmap(call, mapped)(*rows)
            assert torch.allclose(found, torch.stack(wanted), atol=1e-14), mapped


FAR = [1e16, 1e13, 1e6, 0.9, 0.3, 0.1, -1e6, -1e16, np.finfo(np.float32).min]


@generated(
    st.lists(
        st.tuples(
            st.one_of(st.floats(-20, 20), st.sampled_from(FAR)),
            st.one_of(st.just(0.0), st.floats(0, 1), st.just(np.inf)),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_any_row_agrees_with_the_reference(row):
    z, u = (np.array(column) for column in zip(*row, strict=True))
    u[0] = u[0] if np.minimum(u, 1).sum() >= 1 else np.inf
    for name in NAMES:
        given = (z, u) if name in BOUNDED else (z,)
        found = getattr(ours, name)(*map(torch.tensor, given)).numpy()
        wanted = getattr(attention, name)(*given)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("name", NAMES)
def test_undefined_rows_are_nan_and_do_not_affect_others(name):
    nan, inf = float("nan"), float("inf")
    rows = [  # scores, bounds
        ([0.5, 0.2, 0.1], [0.7, 0.7, 0.7]),
        ([0.5, nan, 0.1], [0.7, 0.7, 0.7]),
        ([-inf, -inf, -inf], [0.7, 0.7, 0.7]),
        ([0.5, 0.2, 0.1], [0.3, 0.3, 0.3]),
        ([0.5, 0.2, 0.1], [-0.1, 0.7, 0.7]),
        ([0.5, 0.2, 0.1], [nan, 0.7, 0.7]),
    ]
    z, u = (torch.tensor(column) for column in zip(*rows, strict=True))
    alpha = getattr(ours, name)(*((z, u) if name in BOUNDED else (z,)))
    undefined = [1, 2, 3, 4, 5] if name in BOUNDED else [1, 2]
    for row in range(len(rows)):
        assert alpha[row].isnan().all() == (row in undefined), row
    # Rounding is tolerated: bounds that sum to slightly less than 1.
    short = torch.tensor([0.5, 0.5 - 1e-6, -1e-8])
    if name in BOUNDED:
        assert getattr(ours, name)(z[0], short).tolist() == pytest.approx([0.5, 0.5, 0], abs=2e-6)
        printed = torch.full((3,), 0.333333333, dtype=torch.float64)
        assert getattr(ours, name)(z[0].double(), printed).equal(printed)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_only_the_result_is_in_half_precision(name, dtype):
    z, u = (t.to(getattr(torch, dtype)) for t in smooth_problem(4))
    given = (z, u) if name in BOUNDED else (z,)
    leaves = [t.clone().requires_grad_() for t in given]
    wide = [t.float().requires_grad_() for t in given]
    function = getattr(ours, name)
    result, exact = function(*leaves), function(*wide)
    assert result.dtype == z.dtype
    assert torch.equal(result, exact.to(z.dtype))
    result.float().square().sum().backward()
    exact.to(z.dtype).float().square().sum().backward()
    for leaf, other in zip(leaves, wide, strict=True):
        assert torch.equal(leaf.grad, other.grad.to(z.dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_compiles_into_one_graph(name, dtype):
    torch._dynamo.reset()
    function = getattr(ours, name)
    compiled = torch.compile(function, fullgraph=ONE_GRAPH, backend="aot_eager")
    z, u = (t.to(getattr(torch, dtype)) for t in smooth_problem(6))
    mask = torch.ones(6, dtype=torch.bool)
    mask[3] = False
    gradients = []
    for call in (function, compiled):
        leaves = [t.clone().requires_grad_() for t in ((z, u) if name in BOUNDED else (z,))]
        call(*leaves, mask=mask).square().sum().backward()
        gradients.append([leaf.grad.double() for leaf in leaves])
    atol = {"float64": 1e-12, "float32": 1e-6, "float16": 2e-3, "bfloat16": 2e-2}[dtype]
    for eager, graph in zip(*gradients, strict=True):
        assert torch.allclose(eager, graph, atol=atol)


@pytest.mark.parametrize("device", ["meta", *["cuda"] * torch.cuda.is_available()])
@pytest.mark.parametrize("name", NAMES)
def test_no_function_waits_for_the_device(name, device):
    """On the device "meta" there are no values, so code that asks for one fails."""
    leaves = [t.to(device).requires_grad_() for t in smooth_problem(7)]
    given = leaves if name in BOUNDED else leaves[:1]
    mask = torch.ones(6, dtype=torch.bool, device=device)
    if device == "cuda":
        torch.cuda.set_sync_debug_mode("error")
    result = getattr(ours, name)(*given, mask=mask)
    result.square().sum().backward()
    if device == "cuda":
        torch.cuda.set_sync_debug_mode("default")
        expected = getattr(ours, name)(*(t.detach().cpu() for t in given))
        assert torch.allclose(result.detach().cpu(), expected, atol=1e-12)
    assert all(leaf.grad.device.type == device for leaf in given)


def test_the_loss_compiles_and_does_not_wait_for_the_device():
    torch._dynamo.reset()
    z = smooth_problem(6)[0].requires_grad_()
    q = z.detach().softmax(-1)
    compiled = torch.compile(ours.sparsemax_loss, fullgraph=ONE_GRAPH, backend="aot_eager")
    gradients = [torch.autograd.grad(f(z, q).sum(), z)[0] for f in (ours.sparsemax_loss, compiled)]
    assert torch.allclose(*gradients, atol=1e-12)
    ours.sparsemax_loss(z.detach().to("meta").requires_grad_(), q.to("meta")).sum().backward()


def test_sparsemax_loss_equals_the_reference():
    rng = np.random.default_rng(9)
    z = np.array([1.0, 10.0, 1000.0])[:, None, None] * rng.normal(size=(3, 50, 6))
    q = rng.dirichlet(np.ones(6), size=(3, 50))
    scores = torch.tensor(z, requires_grad=True)
    loss = ours.sparsemax_loss(scores, torch.tensor(q))
    np.testing.assert_allclose(loss.detach().numpy(), attention.sparsemax_loss(z, q), rtol=1e-12)
    loss.sum().backward()
    wanted = attention.sparsemax(z) - q
    np.testing.assert_allclose(scores.grad.numpy(), wanted, rtol=0, atol=1e-12)
    leaf, target = torch.tensor(z[0], requires_grad=True), torch.tensor(q[0])
    assert torch.autograd.gradcheck(lambda z: ours.sparsemax_loss(z, target), leaf)
    assert torch.autograd.gradgradcheck(lambda z: ours.sparsemax_loss(z, target), leaf)
    exact = torch.tensor([0.25, 0.5, -0.125, 0.0, 0.5, -1.0], dtype=torch.float64)
    near, far = (ours.sparsemax_loss(exact + shift, target[0]) for shift in (0, 2**40))
    assert far.item() == pytest.approx(near.item(), rel=1e-12)
    across = ours.sparsemax_loss(leaf.T, target.T, dim=0)
    assert torch.allclose(across, ours.sparsemax_loss(leaf, target), atol=1e-12)
    (gradient,) = torch.autograd.grad(across.sum(), leaf)
    np.testing.assert_allclose(gradient.numpy(), wanted[0], rtol=0, atol=1e-12)
