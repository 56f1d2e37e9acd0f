"""Covariance of least-squares estimates whose residuals have a colour, and whether these follow what was predicted.

Symbols: X slopes of weighted residuals by the parameters (n rows, channels, k), made orthonormal; e the residuals left;
A the filter that makes a channel's noise white (autoregressive), eta = A e, F = A X and g = A^-T X.

    b - beta = X^T noise,   X^T e = g^T eta

The second form has the same sum with terms that are nearly new at every row. Its variance is the mean of squares of
its slow cosine transforms, those of j = 1 .. nu half periods over a recording (Lazarus, Lewis, Stock and Watson 2018):
never negative, whatever is left of the colour, also for noise that changes with the motion and channels that share it.

    S = 1/nu sum_j s_j s_j^T,   s_j = sqrt(2) sum_t cos(pi j (t + 1/2) / n) g_t eta_t

Residuals lack what the fit took out of the noise, most of it where slopes and noise are slow. That is known: residuals
are M noise with M = I - X X^T. Autocovariances are raised by what M takes from noise of A's spectrum before A is found
anew, and each variance by what M takes from it; the latter's degrees of freedom are Satterthwaite's (Bell and
McCaffrey 2002), so that intervals are Student's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.base import Array, frozen

ROUNDS, MANY = 4, 200
"""Of finding the colour and what the fit took from it; rows for each number from which on one round is enough."""
SLOW, MOST = 0.8, 100
"""Cosines by the rows to the power 2/3, and how many at most."""
STEADY, UNLIKE = 15.0, 2.6
"""Degrees of freedom that a noise of one size all the time adds at most; and deviations of the logarithm of two
variances beyond which it is none."""
FEW = 2.0
"""Independent residuals, by the parameters, below which their colour cannot be known."""
COLOURED = 0.5
"""Share of independent residuals below which they may be the error of a model."""
SURE = 0.01
"""Probability of residuals that follow the prediction as much by chance, below which it is none."""
NEW = 0.05
"""Part of a shape beside what slopes explain that is worth a test."""


@frozen(eq=False)
class ResidualRows:
    """One recording: X (n, channels, k) and e (n, channels), over the noise, 0 where a sample is not used.

    Attributes:
        fresh: share of rows that a filter of the data has left new.
    """

    X: Array
    e: Array
    used: Array
    fresh: float = 1.0


@frozen(eq=False)
class Spread:
    """Covariance of estimates, degrees of freedom of each deviation, and how many residuals are worth new ones.

    Attributes:
        filters: A of each channel.
    """

    covariance: Array
    freedom: Array
    independent: float
    filters: tuple[Array, ...] = ()

    @property
    def deviations(self) -> Array:
        return np.sqrt(np.diag(self.covariance))

    @property
    def half_widths(self) -> Array:
        """Half the widths of 95 % intervals."""
        from scipy.special import stdtrit

        return np.asarray(self.deviations * stdtrit(self.freedom, 0.975))

    @property
    def correlation(self) -> Array:
        """The correlation of the estimates; one that cannot move is correlated with nothing."""
        sizes = np.where(self.deviations > 0, self.deviations, 1.0)
        return np.asarray(self.covariance / np.outer(sizes, sizes))


def find_spread(parts: Sequence[ResidualRows], along: Array) -> Spread:
    """The spread of the numbers `along @ y`, y the least-squares coefficients of X; along has a row for each number."""
    if not along.size:
        return Spread(np.zeros((len(along),) * 2), np.full(len(along), np.inf), np.inf)
    # Slopes made orthonormal: estimates are sums of noise along them, `ways` leads back to the numbers.
    R = np.linalg.qr(np.vstack([part.X.reshape(part.e.size, -1) for part in parts]), mode="r")
    inverse = np.linalg.inv(R)
    parts = [ResidualRows(part.X @ inverse, part.e, part.used) for part in parts]
    ways = along @ inverse
    # The colour of the noise, and slopes and residuals without it.
    filters, variances, independent = _find_filters(parts)
    g, F, eta = zip(*(_whiten(part, filters) for part in parts), strict=True)
    # Variance of every number by slow cosine transforms of its terms, which need not be alike over time.
    counts = [_count_cosines(part, len(parts)) for part in parts]
    scores = [_slow(np.einsum("tck,tc->tk", *both), nu) for *both, nu in zip(g, eta, counts, strict=True)]
    spread = np.vstack(scores) @ ways.T
    Q = sum(np.einsum("tck,tcl->kl", own, own) for own in g)
    # Raised by what the fit took out of the noise; degrees of freedom by Satterthwaite.
    factors, freedom = np.ones((2, len(ways)))
    for k, way in enumerate(ways):
        if way.any():
            G, whole = _expected(way, g, F, Q, counts), float(way @ Q @ way)
            factors[k] = np.sqrt(whole / max(float(np.trace(G)), 1e-6 * whole))
            freedom[k] = max(float(np.trace(G) ** 2 / np.sum(G * G)), 1.0)
    spread = spread * factors
    # A second estimate, for noise of one size all the time.
    local, steady = spread.T @ spread, ways @ _steady(g, eta, parts, variances) @ ways.T
    # Both are right for noise that is the same all the time, and the second scatters less; else the first one is.
    more = min(independent / 2, STEADY)
    ratio = np.log(np.maximum(np.diag(local), 1e-300) / np.maximum(np.diag(steady), 1e-300))
    alike = np.abs(ratio) < UNLIKE * np.sqrt(2 / freedom + 2 / more)
    share = np.where(alike, more / (freedom + more), 0.0)
    first, second = np.sqrt(1 - share), np.sqrt(share)
    covariance = local * np.outer(first, first) + steady * np.outer(second, second)
    # No level of noise is known better than by all residuals that are new ones.
    freedom = np.minimum(freedom + np.where(alike, more, 0.0), max(independent, 1.0))
    return Spread(covariance, freedom, independent, tuple(filters))


def describe_doubt(spread: Spread, parts: Sequence[ResidualRows], shapes: Sequence[Array]) -> str:
    """Why intervals are not 95 % intervals, empty where nothing speaks against them; shapes as for `find_chance`."""
    count, rows = parts[0].X.shape[2], sum(part.fresh * part.used.sum() for part in parts)
    if not count:
        return ""
    if spread.independent < FEW * count:
        what = f"the residual changes so slowly that it is worth only {spread.independent:.2g} independent samples"
        remedy = "measure longer, or find what the model lacks"
        return f"{what} for {count} numbers: the intervals are not 95 % intervals; {remedy}"
    if find_chance(parts, shapes, spread.filters) < SURE:
        what = "the residual follows the motion: the model is incomplete, or the search ended too early"
        return f"{what}; the intervals cover noise alone and are not 95 % intervals"
    if spread.independent < COLOURED * rows:
        what = f"the residual is correlated: of {rows:.0f} samples only {spread.independent:.0f} are independent"
        return f"{what}: the 95 % intervals hold if it is noise, but not if it is a model error"
    return ""


def find_chance(parts: Sequence[ResidualRows], shapes: Sequence[Array], filters: Sequence[Array] = ()) -> float:
    """How probable it is that residuals of noise alone follow the motion as much as these do.

    What a lacking law makes of signals s of the motion (n, channels, signals) is looked for in the residuals: s itself,
    its square with its sign, and its sign, such as that of dry friction. What explains most beside the slopes gets a
    coefficient, and Student's test says how probable that is, as many times as shapes were tried (Bonferroni).

    Args:
        filters: A of each channel, where it is known: it does not depend on the basis of the slopes.
    """
    from scipy.special import stdtr

    def split(x: Array, e: Array) -> list[ResidualRows]:
        pieces = zip(parts, np.split(x, ends), np.split(e, ends), strict=True)
        return [ResidualRows(a.reshape(*p.e.shape, -1), b.reshape(p.e.shape), p.used) for p, a, b in pieces]

    # Shapes that a lacking law could make of the motion, less what the slopes explain already.
    ends = np.cumsum([part.e.size for part in parts])[:-1]
    e = np.concatenate([part.e.ravel() for part in parts])
    X = np.linalg.qr(np.vstack([part.X.reshape(part.e.size, -1) for part in parts]))[0]
    signals = [(s * part.used[:, :, None]).reshape(part.e.size, -1) for part, s in zip(parts, shapes, strict=True)]
    regressors = np.vstack([np.hstack([s, s * abs(s), np.sign(s)]) for s in signals])
    regressors = regressors / np.maximum(np.linalg.norm(regressors, axis=0), 1e-300)
    regressors = regressors - X @ (X.T @ regressors)
    regressors = regressors[:, np.linalg.norm(regressors, axis=0) > NEW]
    if not regressors.size:
        return 1.0
    # The shape that explains most of the whitened residuals gets a coefficient of its own.
    filters = filters or _find_filters(split(X, e))[0]
    products, squares = np.zeros((2, regressors.shape[1]))
    for part in split(regressors, e):
        _, F, eta = _whiten(part, filters)
        products, squares = products + np.einsum("tck,tc->k", F, eta), squares + np.sum(F * F, axis=(0, 1))
    best = regressors[:, int(np.argmax(products**2 / squares))]
    size = float(best @ e / (best @ best))
    spread = find_spread(split(np.column_stack([X, best]), e - size * best), np.eye(X.shape[1] + 1)[-1:])
    # Student's test of that coefficient, as often as shapes were tried (Bonferroni).
    ratio = abs(size) / max(float(spread.deviations[0]), 1e-300)
    return min(1.0, float(2 * stdtr(spread.freedom[0], -ratio) * regressors.shape[1]))


def _steady(g: Sequence[Array], eta: Sequence[Array], parts: Sequence[ResidualRows], variances: Array) -> Array:
    """Covariance of g^T eta where eta is white and of one size all the time, and channels share it as residuals do."""
    used = np.vstack([part.used for part in parts]).astype(float)
    whole = np.vstack(eta) * used
    shared = whole.T @ whole / np.maximum(used.T @ used, 1.0)
    sizes = np.sqrt(np.maximum(np.diag(shared), 1e-300))
    shared = shared / np.outer(sizes, sizes) * np.sqrt(np.outer(variances, variances))
    return np.asarray(sum(np.einsum("tck,cd,tdl->kl", own, shared, own, optimize=True) for own in g))


def _expected(way: Array, g: Sequence[Array], F: Sequence[Array], Q: Array, counts: Sequence[int]) -> Array:
    """Covariance of one number's cosine transforms where eta is white of variance 1 and residuals are M noise.

    A transform is c^T A M A^-1 eta with c = (g way) cos: what is left of c is c - g F^T c.
    """
    G, by_g, by_F = np.zeros((sum(counts),) * 2), list[Array](), list[Array]()
    begin = 0
    for own, plain, nu in zip(g, F, counts, strict=True):
        u = own @ way
        power = _cosines(np.sum(u * u, axis=1)[:, None], 2 * nu)[:, 0]
        j = np.arange(1, nu + 1)
        # cos i cos j = (cos (i + j) + cos (i - j)) / 2
        G[begin : begin + nu, begin : begin + nu] = (power[j[:, None] + j] + power[abs(j[:, None] - j)]) / nu
        by_g.append(_slow(np.einsum("tc,tck->tk", u, own), nu))
        by_F.append(_slow(np.einsum("tc,tck->tk", u, plain), nu))
        begin += nu
    P, Z = np.vstack(by_g), np.vstack(by_F)
    return np.asarray(G - Z @ P.T - P @ Z.T + Z @ Q @ Z.T)


def _cosines(x: Array, most: int) -> Array:
    """sum_t x_t cos(pi j (t + 1/2) / n), j = 0 .. most, of columns."""
    from scipy.fft import dct

    cosines = np.zeros((most + 1, x.shape[1]))
    own = dct(x, type=2, axis=0)[: most + 1] / 2
    cosines[: len(own)] = own
    return cosines


def _slow(x: Array, nu: int) -> Array:
    """Transforms of nu cosines, the mean of whose squares is the variance of a sum of white terms."""
    return np.asarray(_cosines(x, nu)[1:] * np.sqrt(2 / nu))


def _count_cosines(part: ResidualRows, parts: int) -> int:
    rows = int(part.used.any(axis=1).sum())
    return int(np.clip(SLOW * rows ** (2 / 3), 4, max(MOST // parts, 4)))


def _whiten(part: ResidualRows, filters: Sequence[Array]) -> tuple[Array, Array, Array]:
    """g, F and eta."""
    from scipy.signal import lfilter

    g, F, eta = np.empty_like(part.X), np.empty_like(part.X), np.empty_like(part.e)
    for c, a in enumerate(filters):
        g[:, c] = lfilter([1.0], a, part.X[::-1, c], axis=0)[::-1]
        F[:, c] = lfilter(a, [1.0], part.X[:, c], axis=0)
        eta[:, c] = lfilter(a, [1.0], part.e[:, c])
    return g, F, eta


def _find_filters(parts: Sequence[ResidualRows]) -> tuple[list[Array], Array, float]:
    """A and the variance of eta of each channel, of all recordings together; how many residuals are worth new ones."""
    filters, variances, independent = list[Array](), list[float](), 0.0
    for c in range(parts[0].e.shape[1]):
        count = sum(int(part.used[:, c].sum()) for part in parts)
        longest = max(int(part.used[:, c].sum()) for part in parts)
        most = int(min(longest // 10, 10 * np.log10(max(longest, 1))))
        # Autocovariance of the channel, of all recordings together, over pairs of samples that are there.
        pairs, sums = np.zeros((2, most + 1))
        for part in parts:
            pairs += _lagged(part.used[:, c, None] * 1.0, part.used[:, c, None] * 1.0, most)
            sums += _lagged(part.e[:, c, None], part.e[:, c, None], most)
        pairs = np.maximum(np.rint(pairs), 1.0)
        correlation = sums / pairs
        # A filter from it, then again with what the fit has taken out of noise of that colour put back.
        a, variance = _predict(correlation, count)
        if count and most:
            slopes = [part.X[:, c] for part in parts]
            spectra = [np.fft.rfft(X, _padded(len(X), most), axis=0) for X in slopes]
            for _ in range(1 if count > MANY * parts[0].X.shape[2] else ROUNDS):
                a, variance = _predict(correlation + variance / pairs * _taken(slopes, spectra, a, most), count)
        filters.append(a)
        variances.append(variance)
        # The variance of a mean of such noise, by that of white noise.
        memory = variance / max(correlation[0], 1e-300) / max(abs(a.sum()), 1e-12) ** 2
        independent += count / max(memory, 1.0)
    return filters, np.array(variances), independent


def _taken(slopes: Sequence[Array], spectra: Sequence[Array], a: Array, most: int) -> Array:
    """Sums of lagged products that a fit takes out of noise with the filter a and eta of variance 1.

    noise - M noise has those of H W + W H - H W H, with H = X X^T and W = A^-1 A^-T. Lagged products are those of
    spectra; those of X Q X^T with a symmetric Q are real.

    Args:
        spectra: of the slopes.
    """
    from scipy.signal import lfilter

    g = [lfilter([1.0], a, X[::-1], axis=0)[::-1] for X in slopes]
    Q = sum(own.T @ own for own in g)
    lags = np.arange(most + 1)
    share = np.zeros(most + 1)
    for X, own, spectrum in zip(slopes, g, spectra, strict=True):
        size = _padded(len(X), most)
        coloured = np.fft.rfft(lfilter([1.0], a, own, axis=0), size, axis=0)
        products = np.fft.irfft(np.sum(spectrum * np.conj(coloured), axis=1), size)
        twice = sum(np.sum((part @ Q) * part, axis=1) for part in (spectrum.real, spectrum.imag))
        share += products[lags] + products[-lags] - np.fft.irfft(twice, size)[lags]
    return share


def _lagged(x: Array, y: Array, most: int) -> Array:
    """sum_t x_{t+l} y_t over all columns, l = 0 .. most."""
    size = _padded(len(x), most)
    both = np.fft.rfft(x, size, axis=0) * np.conj(np.fft.rfft(y, size, axis=0))
    return np.fft.irfft(both.sum(axis=1), size)[: most + 1]


def _padded(rows: int, most: int) -> int:
    """A length of quick transforms, so much longer than the rows that lagged products do not meet around its end."""
    from scipy.fft import next_fast_len

    return int(next_fast_len(rows + most, real=True))


def _predict(autocovariance: Array, count: int) -> tuple[Array, float]:
    """The autoregressive filter by Levinson and Durbin, as long as Akaike's criterion wants, and its eta's variance."""
    a, variance = np.ones(1), float(max(autocovariance[0], 0.0))
    best, found = np.inf, (a, variance)
    for order in range(len(autocovariance)):
        if order:
            # Levinson's recursion: one coefficient more from those before.
            reflection = -float(a @ autocovariance[order:0:-1]) / variance
            if abs(reflection) >= 1:
                break
            a = np.append(a, 0.0)
            a, variance = a + reflection * a[::-1], variance * (1 - reflection**2)
        if not variance > 1e-9 * autocovariance[0]:
            break
        # Akaike: a coefficient must gain more than it costs.
        criterion = count * np.log(variance) + 2 * order
        if criterion < best:
            best, found = criterion, (a, variance)
    return found
