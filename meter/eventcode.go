package meter

// The numbers of IEC 61968-9, annex E, of which Kind makes use.
const (
	domainBattery  = 2
	domainSecurity = 12
	domainPower    = 26
	domainSwitch   = 31
	domainClock    = 36
	domainVoltage  = 38
)

// kinds is what an event or action means in a domain, whatever the type of device and the sub-domain.
var kinds = map[[2]uint16]EventKind{
	{domainPower, 47}:     LastGasp, // power down
	{domainPower, 66}:     LastGasp, // power is going
	{domainPower, 85}:     LastGasp, // power failed
	{domainPower, 49}:     Restoration,
	{domainPower, 216}:    Restoration,
	{domainSecurity, 257}: Tamper,
	{domainVoltage, 93}:   VoltageHigh,
	{domainVoltage, 150}:  VoltageLow,
	{domainBattery, 150}:  BatteryLow,
	{domainClock, 13}:     ClockSet,
	{domainClock, 24}:     ClockSet,
	{domainSwitch, 68}:    Disconnected,
	{domainSwitch, 42}:    Connected,
}

// Kind returns what a code means to the program; OtherEvent for one of which it knows nothing.
func (c EventCode) Kind() EventKind { return kinds[[2]uint16{c[1], c[3]}] }
