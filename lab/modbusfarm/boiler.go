package modbusfarm

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	"time"

	"github.com/simonvetter/modbus"
)

// Where things are; boiler.csv says the same for the driver.
const (
	coilEnable = 0
	coilPump   = 1

	holdingSetpoint = 0  // float32, degC, 20 to 95
	holdingMaxFire  = 2  // int16, %, 10 to 100
	holdingModel    = 10 // string[16]
	holdingSerial   = 18 // string[12]
	holdingUnit     = 30 // uint16
	holdingBulk     = 300
	bulkLen         = 100

	inputMeasured = 0   // float32: supply, return, flow; int16 pressure; uint16 status; uint32 energy, hours
	inputGas      = 20  // float64, m³
	inputBulk     = 300 // uint16 × 100, moving
)

const (
	ambient = 20.0             // degC
	tau     = 90 * time.Second // how fast the water follows the set point
	ratedKW = 250.0
)

// boiler is one unit. Its water follows the set point like a first-order system, so what it
// shows is a function of the time since the last change.
type boiler struct {
	mu sync.Mutex // several connections may ask for one boiler

	unit    uint8
	phase   float64 // makes boilers differ, 0 to 2π
	started time.Time
	coils   []bool
	holding space

	since  time.Time // of the last change
	from   float64   // supply temperature then, degC
	energy float64   // kWh until then
}

func newBoiler(unit uint8, seed int64, now time.Time) *boiler {
	mixed := bits.RotateLeft64(uint64(seed)*0x9E3779B97F4A7C15+uint64(unit)*0xBF58476D1CE4E5B9, 31)
	b := &boiler{
		unit: unit, phase: 2 * math.Pi * float64(mixed>>11) / (1 << 53), started: now, since: now,
		coils: []bool{true, true}, from: 55, energy: 1000 * float64(unit),
	}
	fixed := make([]uint16, 21)
	putText(fixed[:8], "VB-250 Condens")
	putText(fixed[8:14], fmt.Sprintf("SN-%06d", mixed%1_000_000))
	fixed[holdingUnit-holdingModel] = uint16(unit)
	b.holding = space{holdingSetpoint: make([]uint16, 3), holdingModel: fixed, holdingBulk: make([]uint16, bulkLen)}
	putFloat32(b.holding[holdingSetpoint], 70)
	b.holding[holdingSetpoint][holdingMaxFire] = 100
	return b
}

// wave moves between -1 and 1 with the period, differently for each boiler.
func (b *boiler) wave(now time.Time, period time.Duration) float64 {
	return math.Sin(2*math.Pi*float64(now.UnixMilli()%period.Milliseconds())/float64(period.Milliseconds()) + b.phase)
}

// target is the supply temperature that the boiler goes to.
func (b *boiler) target() float64 {
	if !b.coils[coilEnable] {
		return ambient
	}
	return float64(float32At(b.holding[holdingSetpoint]))
}

func (b *boiler) supply(now time.Time) float64 {
	gone := math.Exp(-float64(now.Sub(b.since)) / float64(tau))
	return b.target() + (b.from-b.target())*gone + 0.4*b.wave(now, 47*time.Second)
}

// fire is the burner's power in percent.
func (b *boiler) fire(now time.Time) float64 {
	if !b.coils[coilEnable] {
		return 0
	}
	most := float64(int16(b.holding[holdingSetpoint][holdingMaxFire]))
	return min(most, max(10, 45+6*(b.target()-b.supply(now))+10*b.wave(now, 11*time.Minute)))
}

// used is the energy so far in kWh: it grows with the mean power, so that it never falls.
func (b *boiler) used(now time.Time) float64 {
	if !b.coils[coilEnable] {
		return b.energy
	}
	return b.energy + 0.45*ratedKW*max(0, now.Sub(b.since).Hours())
}

// change runs a change of the set points, from the state of the moment on.
func (b *boiler) change(now time.Time, f func()) {
	supply, used := b.supply(now), b.used(now)
	f()
	b.since, b.from, b.energy = now, supply, used
}

// write changes holding registers. Only the set points and the bulk can be written.
func (b *boiler) write(addr uint16, words []uint16) error {
	if addr >= holdingModel && addr < holdingBulk {
		return modbus.ErrIllegalDataAddress
	}
	first := uint16(holdingSetpoint)
	if addr >= holdingBulk {
		first = holdingBulk
	}
	block := append([]uint16(nil), b.holding[first]...)
	copy(block[addr-first:], words)
	if first == holdingSetpoint {
		setpoint, fire := float32At(block), int16(block[holdingMaxFire])
		if !(setpoint >= 20 && setpoint <= 95) || fire < 10 || fire > 100 {
			return modbus.ErrIllegalDataValue
		}
	}
	b.holding[first] = block
	return nil
}

// discrete returns flame, alarm and pump running.
func (b *boiler) discrete(now time.Time) []bool {
	return []bool{b.fire(now) > 0, b.wave(now, 20*time.Minute) > 0.999, b.coils[coilPump]}
}

// inputs returns the measured values.
func (b *boiler) inputs(now time.Time) space {
	supply, fire, flow := b.supply(now), b.fire(now), 0.0
	if b.coils[coilPump] {
		flow = 10.5 + 0.5*b.wave(now, 3*time.Minute)
	}
	m := make([]uint16, 12)
	putFloat32(m[0:], float32(supply))
	putFloat32(m[2:], float32(supply-2-fire/8))
	putFloat32(m[4:], float32(flow))
	m[6] = uint16(int16(math.Round(160 + 8*b.wave(now, 7*time.Minute)))) // 0.01 bar
	m[7] = b.status(now, fire)
	putUint(m[8:10], uint64(b.used(now)))
	putUint(m[10:12], uint64(12_000+now.Sub(b.started).Hours()))

	gas := make([]uint16, 4)
	putUint(gas, math.Float64bits(b.used(now)/10.4))
	bulk := make([]uint16, bulkLen)
	for i := range bulk {
		bulk[i] = uint16(now.Unix() + int64(i))
	}
	return space{inputMeasured: m, inputGas: gas, inputBulk: bulk}
}

// status has bit 0 on, bit 1 pump, bit 2 alarm, and in bits 4 to 7 the stage of the burner, 0 to 4.
func (b *boiler) status(now time.Time, fire float64) uint16 {
	var s uint16
	for bit, on := range []bool{b.coils[coilEnable], b.coils[coilPump], b.discrete(now)[1]} {
		if on {
			s |= 1 << bit
		}
	}
	return s | uint16(math.Ceil(fire/25))<<4
}

func putFloat32(words []uint16, f float32) { putUint(words[:2], uint64(math.Float32bits(f))) }

func float32At(words []uint16) float32 {
	return math.Float32frombits(uint32(words[0])<<16 | uint32(words[1]))
}

// putUint fills all words, the most significant first.
func putUint(words []uint16, v uint64) {
	for i := range words {
		words[i] = uint16(v >> (16 * (len(words) - 1 - i)))
	}
}

func putText(words []uint16, s string) {
	b := make([]byte, 2*len(words))
	copy(b, s)
	for i := range words {
		words[i] = uint16(b[2*i])<<8 | uint16(b[2*i+1])
	}
}
