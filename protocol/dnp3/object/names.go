package object

// Variations by name; [Variation.Describe] says what each is. Variation 0 asks for
// any variation; g60v1 is class 0 (current values), g60v2–4 are the event classes.
const (
	G1V0 Variation = 1 << 8
	G1V1 Variation = 1<<8 | 1
	G1V2 Variation = 1<<8 | 2

	G2V0 Variation = 2 << 8
	G2V1 Variation = 2<<8 | 1
	G2V2 Variation = 2<<8 | 2
	G2V3 Variation = 2<<8 | 3

	G3V0 Variation = 3 << 8
	G3V1 Variation = 3<<8 | 1
	G3V2 Variation = 3<<8 | 2

	G4V0 Variation = 4 << 8
	G4V1 Variation = 4<<8 | 1
	G4V2 Variation = 4<<8 | 2
	G4V3 Variation = 4<<8 | 3

	G10V0 Variation = 10 << 8
	G10V1 Variation = 10<<8 | 1
	G10V2 Variation = 10<<8 | 2

	G11V0 Variation = 11 << 8
	G11V1 Variation = 11<<8 | 1
	G11V2 Variation = 11<<8 | 2

	G12V1 Variation = 12<<8 | 1
	G12V2 Variation = 12<<8 | 2
	G12V3 Variation = 12<<8 | 3

	G13V0 Variation = 13 << 8
	G13V1 Variation = 13<<8 | 1
	G13V2 Variation = 13<<8 | 2

	G20V0 Variation = 20 << 8
	G20V1 Variation = 20<<8 | 1
	G20V2 Variation = 20<<8 | 2
	G20V5 Variation = 20<<8 | 5
	G20V6 Variation = 20<<8 | 6

	G21V0  Variation = 21 << 8
	G21V1  Variation = 21<<8 | 1
	G21V2  Variation = 21<<8 | 2
	G21V5  Variation = 21<<8 | 5
	G21V6  Variation = 21<<8 | 6
	G21V9  Variation = 21<<8 | 9
	G21V10 Variation = 21<<8 | 10

	G22V0 Variation = 22 << 8
	G22V1 Variation = 22<<8 | 1
	G22V2 Variation = 22<<8 | 2
	G22V5 Variation = 22<<8 | 5
	G22V6 Variation = 22<<8 | 6

	G23V0 Variation = 23 << 8
	G23V1 Variation = 23<<8 | 1
	G23V2 Variation = 23<<8 | 2
	G23V5 Variation = 23<<8 | 5
	G23V6 Variation = 23<<8 | 6

	G30V0 Variation = 30 << 8
	G30V1 Variation = 30<<8 | 1
	G30V2 Variation = 30<<8 | 2
	G30V3 Variation = 30<<8 | 3
	G30V4 Variation = 30<<8 | 4
	G30V5 Variation = 30<<8 | 5
	G30V6 Variation = 30<<8 | 6

	G31V0 Variation = 31 << 8
	G31V1 Variation = 31<<8 | 1
	G31V2 Variation = 31<<8 | 2
	G31V3 Variation = 31<<8 | 3
	G31V4 Variation = 31<<8 | 4
	G31V5 Variation = 31<<8 | 5
	G31V6 Variation = 31<<8 | 6
	G31V7 Variation = 31<<8 | 7
	G31V8 Variation = 31<<8 | 8

	G32V0 Variation = 32 << 8
	G32V1 Variation = 32<<8 | 1
	G32V2 Variation = 32<<8 | 2
	G32V3 Variation = 32<<8 | 3
	G32V4 Variation = 32<<8 | 4
	G32V5 Variation = 32<<8 | 5
	G32V6 Variation = 32<<8 | 6
	G32V7 Variation = 32<<8 | 7
	G32V8 Variation = 32<<8 | 8

	G33V0 Variation = 33 << 8
	G33V1 Variation = 33<<8 | 1
	G33V2 Variation = 33<<8 | 2
	G33V3 Variation = 33<<8 | 3
	G33V4 Variation = 33<<8 | 4
	G33V5 Variation = 33<<8 | 5
	G33V6 Variation = 33<<8 | 6
	G33V7 Variation = 33<<8 | 7
	G33V8 Variation = 33<<8 | 8

	G34V0 Variation = 34 << 8
	G34V1 Variation = 34<<8 | 1
	G34V2 Variation = 34<<8 | 2
	G34V3 Variation = 34<<8 | 3

	G40V0 Variation = 40 << 8
	G40V1 Variation = 40<<8 | 1
	G40V2 Variation = 40<<8 | 2
	G40V3 Variation = 40<<8 | 3
	G40V4 Variation = 40<<8 | 4

	G41V1 Variation = 41<<8 | 1
	G41V2 Variation = 41<<8 | 2
	G41V3 Variation = 41<<8 | 3
	G41V4 Variation = 41<<8 | 4

	G42V0 Variation = 42 << 8
	G42V1 Variation = 42<<8 | 1
	G42V2 Variation = 42<<8 | 2
	G42V3 Variation = 42<<8 | 3
	G42V4 Variation = 42<<8 | 4
	G42V5 Variation = 42<<8 | 5
	G42V6 Variation = 42<<8 | 6
	G42V7 Variation = 42<<8 | 7
	G42V8 Variation = 42<<8 | 8

	G43V0 Variation = 43 << 8
	G43V1 Variation = 43<<8 | 1
	G43V2 Variation = 43<<8 | 2
	G43V3 Variation = 43<<8 | 3
	G43V4 Variation = 43<<8 | 4
	G43V5 Variation = 43<<8 | 5
	G43V6 Variation = 43<<8 | 6
	G43V7 Variation = 43<<8 | 7
	G43V8 Variation = 43<<8 | 8

	G50V1 Variation = 50<<8 | 1
	G50V2 Variation = 50<<8 | 2
	G50V3 Variation = 50<<8 | 3
	G50V4 Variation = 50<<8 | 4

	G51V1 Variation = 51<<8 | 1
	G51V2 Variation = 51<<8 | 2

	G52V1 Variation = 52<<8 | 1
	G52V2 Variation = 52<<8 | 2

	G60V1 Variation = 60<<8 | 1
	G60V2 Variation = 60<<8 | 2
	G60V3 Variation = 60<<8 | 3
	G60V4 Variation = 60<<8 | 4

	G70V2 Variation = 70<<8 | 2
	G70V3 Variation = 70<<8 | 3
	G70V4 Variation = 70<<8 | 4
	G70V5 Variation = 70<<8 | 5
	G70V6 Variation = 70<<8 | 6
	G70V7 Variation = 70<<8 | 7
	G70V8 Variation = 70<<8 | 8

	G80V1 Variation = 80<<8 | 1

	G91V1 Variation = 91<<8 | 1

	G102V0 Variation = 102 << 8
	G102V1 Variation = 102<<8 | 1

	G110V0 Variation = 110 << 8

	G111V0 Variation = 111 << 8
)

// Attributes of group 0 that stand for others.
const (
	// G0V254 asks for all attributes of a set.
	G0V254 Variation = 254
	// G0V255 asks which attributes a set has.
	G0V255 Variation = 255
)
