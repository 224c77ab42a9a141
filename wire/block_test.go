package wire_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"testing"
	"time"

	"github.com/bufbuild/protocompile"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

// blocks draws blocks of any content that the model allows.
func blocks(t *rapid.T) *point.Block {
	b := &point.Block{
		Origin: rapid.String().Draw(t, "origin"), Sequence: rapid.Uint64().Draw(t, "sequence"),
		Before: rapid.Uint64().Draw(t, "before"), Refused: rapid.Uint64().Draw(t, "refused"),
		Created: time.UnixMicro(rapid.Int64Range(-1<<50, 1<<52).Draw(t, "created")).UTC(),
		First:   rapid.Uint64().Draw(t, "first"), Left: rapid.Uint64().Draw(t, "left"), Lost: rapid.String().Draw(t, "lost"),
	}
	for _, p := range rapid.SliceOfN(rapid.String(), 1, 8).Draw(t, "points") {
		b.Points = append(b.Points, point.Path(p))
	}
	value := rapid.OneOf(
		rapid.Map(rapid.Float64(), point.FloatOf), rapid.Map(rapid.Int64(), point.IntOf),
		rapid.Map(rapid.Bool(), point.BoolOf), rapid.Map(rapid.String(), point.TextOf),
		rapid.SampledFrom([]point.Value{{}, point.FloatOf(math.NaN()), point.FloatOf(math.Inf(-1)), point.IntOf(math.MinInt64)}))
	for range rapid.IntRange(0, 40).Draw(t, "samples") {
		b.Append(uint32(rapid.IntRange(0, len(b.Points)-1).Draw(t, "point")), &point.Sample{
			Time:    time.UnixMicro(rapid.Int64().Draw(t, "time")),
			Value:   value.Draw(t, "value"),
			Quality: point.Quality(rapid.Byte().Draw(t, "quality")),
		})
	}
	return b
}

func encode(t rapid.TB, b *point.Block) []byte {
	t.Helper()
	var e wire.Encoder
	data, err := e.AppendBlock(nil, b)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return data
}

func TestABlockSurvivesEncodingAndDecoding(t *testing.T) {
	var d wire.Decoder
	var e wire.Encoder
	got := new(point.Block) // reused, so that leftovers of the block before would show
	rapid.Check(t, func(t *rapid.T) {
		want := blocks(t)
		packed, err := e.AppendPacked(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{encode(t, want), packed} {
			if err := d.DecodeBlock(data, got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func TestAPackedBlockThatClaimsAnotherLengthIsRefused(t *testing.T) {
	b := &point.Block{Origin: "n", Sequence: 1, Points: []point.Path{"a"}}
	for i := range 5000 {
		b.Append(0, &point.Sample{Time: time.UnixMicro(int64(i)), Value: point.IntOf(int64(i))})
	}
	var e wire.Encoder
	whole, err := e.AppendPacked(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []uint32{0, 1, binary.LittleEndian.Uint32(whole[12:]) - 1, binary.LittleEndian.Uint32(whole[12:]) + 1, wire.MaxBlock} {
		data := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(data[12:], size)
		if err := new(wire.Decoder).DecodeBlock(wire.Resum(data), new(point.Block)); !fault.Is(err, fault.Corrupt) {
			t.Errorf("a block that claims %d bytes gives %v", size, err)
		}
	}
}

// plainBlock is what the log of a node holds that knew nothing of ways over several nodes.
const plainBlock = "56424b3101000000b35d364d3d0000003df03c0a07706c616e742d3110e72418cbd4ac0420022880c097d1edff96" +
	"0330013a03612f624201004a088080afa2dbffad0652010162080000000000803540"

func TestABlockOfOneNodeKeepsItsBytes(t *testing.T) {
	data, err := hex.DecodeString(plainBlock)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_790_000_000, 0).UTC()
	want := &point.Block{
		Origin: "plant-1", Sequence: 4711, Before: 9_120_331, Refused: 2, Created: at, Points: []point.Path{"a/b"},
	}
	want.Append(0, &point.Sample{Time: at, Value: point.FloatOf(21.5)})
	got := &point.Block{First: 1, Left: 2, Lost: "dropped"}
	if err := new(wire.Decoder).DecodeBlock(data, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if got := encode(t, want); !bytes.Equal(got, data) {
		t.Errorf("is now encoded as %x", got)
	}
	if got.FirstSequence() != 4711 || got.End() != 9_120_332 {
		t.Errorf("stands for blocks from %d, up to sample %d", got.FirstSequence(), got.End())
	}
}

func TestABlockOfARunSaysWhereItBeginsAndEnds(t *testing.T) {
	b := &point.Block{Sequence: 9, First: 7, Before: 300, Left: 12}
	b.Append(0, &point.Sample{})
	if b.FirstSequence() != 7 || b.End() != 313 {
		t.Errorf("begins at %d and ends at sample %d, want 7 and 313", b.FirstSequence(), b.End())
	}
	b.Reset()
	if b.FirstSequence() != 0 || b.End() != 0 {
		t.Errorf("after Reset it begins at %d and ends at sample %d", b.FirstSequence(), b.End())
	}
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	b := &point.Block{Origin: "n", Sequence: 7, Points: []point.Path{"a/b"}}
	for i := range 50 {
		b.Append(0, &point.Sample{Time: time.Unix(int64(i), 0), Value: point.FloatOf(float64(i))})
	}
	data := encode(t, b)
	var d wire.Decoder
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			if err := d.DecodeBlock(data, new(point.Block)); !fault.Is(err, fault.Corrupt) {
				t.Fatalf("byte %d bit %d flipped: error is %v, want corrupt", i, bit, err)
			}
			data[i] ^= 1 << bit
		}
	}
	for n := range data {
		if err := d.DecodeBlock(data[:n], new(point.Block)); !fault.Is(err, fault.Corrupt) {
			t.Fatalf("cut to %d bytes: error is %v, want corrupt", n, err)
		}
	}
}

func TestEncoderRefusesColumnsThatDoNotFit(t *testing.T) {
	var e wire.Encoder
	whole := func() *point.Block {
		b := &point.Block{Points: []point.Path{"p"}}
		b.Append(0, &point.Sample{Value: point.TextOf("x")})
		return b
	}
	for name, spoil := range map[string]func(*point.Block){
		"a column is shorter":            func(b *point.Block) { b.Time = nil },
		"a point is not in the list":     func(b *point.Block) { b.Point[0] = 1 },
		"a text is not in the list":      func(b *point.Block) { b.Bits[0] = 1 },
		"a kind of value does not exist": func(b *point.Block) { b.Kind[0] = 9 },
	} {
		b := whole()
		spoil(b)
		if _, err := e.AppendBlock(nil, b); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: error is %v, want invalid", name, err)
		}
	}
}

// The published schema is the contract with programs in other languages: what the encoder writes
// must be exactly what a stock protobuf library reads with block.proto.
func TestBlocksAreReadableWithThePublishedSchema(t *testing.T) {
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{"block.proto": readFile(t, "block.proto")}),
	}}
	files, err := compiler.Compile(context.Background(), "block.proto")
	if err != nil {
		t.Fatal(err)
	}
	schema := files[0].Messages().ByName("Block")
	rapid.Check(t, func(t *rapid.T) {
		b := blocks(t)
		payload, err := s2.Decode(nil, encode(t, b)[16:])
		if err != nil {
			t.Fatal(err)
		}
		msg := dynamicpb.NewMessage(schema)
		if err := (proto.UnmarshalOptions{DiscardUnknown: false}).Unmarshal(payload, msg); err != nil {
			t.Fatal(err)
		}
		field := func(name protoreflect.Name) int {
			return msg.Get(schema.Fields().ByName(name)).List().Len()
		}
		if len(msg.GetUnknown()) != 0 {
			t.Fatal("the schema misses a field")
		}
		n := int(msg.Get(schema.Fields().ByName("samples")).Uint())
		number := func(name protoreflect.Name) uint64 { return msg.Get(schema.Fields().ByName(name)).Uint() }
		if number("first") != b.First || number("left") != b.Left || msg.Get(schema.Fields().ByName("lost")).String() != b.Lost {
			t.Fatalf("the schema reads other facts of the way than %d, %d, %q", b.First, b.Left, b.Lost)
		}
		if n != b.Len() || field("point_step") != n || field("time_step") != n || field("bits") != n || field("points") != len(b.Points) {
			t.Fatalf("the schema reads %d samples, the block has %d", n, b.Len())
		}
	})
}

func FuzzDecodeBlock(f *testing.F) {
	b := &point.Block{Origin: "n", Sequence: 1, Points: []point.Path{"a/b"}}
	b.Append(0, &point.Sample{Value: point.TextOf("x"), Quality: point.Bad})
	b.Append(0, &point.Sample{Value: point.FloatOf(1.5)})
	var e wire.Encoder
	data, err := e.AppendBlock(nil, b)
	if err != nil {
		f.Fatal(err)
	}
	payload, err := s2.Decode(nil, data[16:])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	b.Sequence, b.First, b.Before, b.Left, b.Lost = 9, 7, 300, 12, "dropped"
	carried, err := s2.Decode(nil, encode(f, b)[16:])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(carried)
	f.Fuzz(func(t *testing.T, payload []byte) {
		var d wire.Decoder
		got := new(point.Block)
		if err := d.DecodeBlock(wire.Seal(payload), got); err != nil {
			return
		}
		var e wire.Encoder
		again, err := e.AppendBlock(nil, got)
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		second := new(point.Block)
		if err := d.DecodeBlock(again, second); err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v", err)
		}
	})
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// benchBlock is a block as a node makes it: scans of 18 points of many devices.
func benchBlock() *point.Block {
	b := &point.Block{Origin: "node", Sequence: 1, Created: time.Now()}
	start := time.Unix(1_700_000_000, 0)
	for i := range 10_000 {
		if i < 2_000 {
			b.Points = append(b.Points, point.Path("campus/building/device"+string(rune('a'+i%26))+"/point").Join(time.Duration(i).String()))
		}
		b.Append(uint32(i%2_000), &point.Sample{
			Time: start.Add(time.Duration(i/18) * 13 * time.Millisecond), Value: point.FloatOf(20 + float64(i%97)/10),
		})
	}
	return b
}

func BenchmarkEncodeBlock(b *testing.B) {
	block := benchBlock()
	var e wire.Encoder
	var data []byte
	b.ReportAllocs()
	for b.Loop() {
		data, _ = e.AppendBlock(data[:0], block)
	}
	b.ReportMetric(float64(b.N)*float64(block.Len())/b.Elapsed().Seconds()/1e6, "Msamples/s")
	b.ReportMetric(float64(len(data))/float64(block.Len()), "B/sample")
}

func BenchmarkDecodeBlock(b *testing.B) {
	block := benchBlock()
	var e wire.Encoder
	var d wire.Decoder
	data, _ := e.AppendBlock(nil, block)
	got := new(point.Block)
	b.ReportAllocs()
	for b.Loop() {
		if err := d.DecodeBlock(data, got); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(block.Len())/b.Elapsed().Seconds()/1e6, "Msamples/s")
}
