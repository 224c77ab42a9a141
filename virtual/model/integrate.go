package model

import (
	"math"
	"time"
)

// fixed integrates to a moment by Runge–Kutta 4. Steps are as long as the method says; the last one is what is left.
func (m *Model) fixed(to time.Duration) {
	for at := m.now; at < to; at += m.method.Step {
		h := min(m.method.Step, to-at).Seconds()
		m.rk4(m.seconds(at), h)
	}
}

func (m *Model) rk4(t, h float64) {
	k1, k2, k3, k4, x := m.work[0], m.work[1], m.work[2], m.work[3], m.work[4]
	m.system.Slope(t, m.x, m.u, k1)
	axpy(x, m.x, h/2, k1)
	m.system.Slope(t+h/2, x, m.u, k2)
	axpy(x, m.x, h/2, k2)
	m.system.Slope(t+h/2, x, m.u, k3)
	axpy(x, m.x, h, k3)
	m.system.Slope(t+h, x, m.u, k4)
	for i := range m.x {
		m.x[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
	}
}

// axpy sets out to x + a·y.
func axpy(out, x []float64, a float64, y []float64) {
	for i := range out {
		out[i] = x[i] + a*y[i]
	}
}

// The coefficients of Dormand and Prince (1980): nodes, weights of the stages, weights of order 5, and their difference to
// those of order 4.
//
//nolint:gochecknoglobals // constants of the method
var (
	dpNode  = [7]float64{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1}
	dpStage = [7][6]float64{
		{},
		{1. / 5},
		{3. / 40, 9. / 40},
		{44. / 45, -56. / 15, 32. / 9},
		{19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
		{9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
		{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
	}
	dpError = [7]float64{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40}
)

// mostSteps ends the search for a step of a system that diverges.
const mostSteps = 1_000_000

// adaptive integrates from t to end with steps whose error is below the tolerance.
func (m *Model) adaptive(t, end float64) {
	h := min(m.method.Step.Seconds(), end-t)
	for n := 0; t < end && n < mostSteps; n++ {
		h = min(h, end-t)
		e := m.tryStep(t, h)
		if !(e < math.Inf(1)) {
			copy(m.x, m.work[7])
			return
		}
		if e <= 1 {
			copy(m.x, m.work[7])
			t += h
			if end-t < 1e-9 {
				return
			}
		}
		grow := 5.0
		if e > 0 {
			grow = min(5, max(0.2, 0.9*math.Pow(e, -0.2)))
		}
		h = min(h*grow, m.method.Step.Seconds())
	}
}

// tryStep puts the state after a step into work[7] and returns its error as a share of the tolerance.
func (m *Model) tryStep(t, h float64) float64 {
	x := m.work[7]
	for s := range dpNode {
		copy(x, m.x)
		for j := range s {
			for i := range x {
				x[i] += h * dpStage[s][j] * m.work[j][i]
			}
		}
		m.system.Slope(t+dpNode[s]*h, x, m.u, m.work[s])
	}
	worst := 0.0
	for i := range x {
		d := 0.0
		for s := range dpError {
			d += dpError[s] * m.work[s][i]
		}
		e := math.Abs(h*d) / (m.method.Tolerance * (1 + max(math.Abs(m.x[i]), math.Abs(x[i]))))
		if math.IsNaN(e) {
			return e
		}
		worst = max(worst, e)
	}
	return worst
}
