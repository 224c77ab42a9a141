package wire

import (
	"google.golang.org/protobuf/encoding/protowire"

	"voltbus/fault"
)

// Origin returns the origin of a block without decoding the rest, for readers that skip most blocks. It fails with fault.Corrupt
// as DecodeBlock does.
func (d *Decoder) Origin(data []byte) (string, error) {
	const op = "wire.Origin"
	if err := d.open(data); err != nil {
		return "", fault.E(op, fault.Corrupt, "", err)
	}
	for p := d.payload; len(p) > 0; {
		field, kind, n := protowire.ConsumeTag(p)
		if n < 0 {
			return "", fault.E(op, fault.Corrupt, "", errShort)
		}
		p = p[n:]
		if field == fieldOrigin && kind == protowire.BytesType {
			v, n := protowire.ConsumeBytes(p)
			if n < 0 {
				return "", fault.E(op, fault.Corrupt, "", errShort)
			}
			return string(v), nil
		}
		if n = protowire.ConsumeFieldValue(field, kind, p); n < 0 {
			return "", fault.E(op, fault.Corrupt, "", errShort)
		}
		p = p[n:]
	}
	return "", nil
}
