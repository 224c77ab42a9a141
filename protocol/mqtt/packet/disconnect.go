package packet

// Disconnect is a DISCONNECT (§3.14). In 3.1.1 only a client sends it, without a reason code.
type Disconnect struct {
	Code       Code
	Properties Properties
}

// Disconnect decodes a DISCONNECT.
func (d *Decoder) Disconnect(f Frame) (Disconnect, error) {
	code, properties, err := d.reason(f, DISCONNECT, "MQTT-3.14.2-1")
	return Disconnect{code, properties}, err
}

// Append appends the packet in its shortest form.
func (p *Disconnect) Append(b []byte, v Version) ([]byte, error) {
	if v != V5 {
		return append(b, byte(DISCONNECT)<<4, 0), nil
	}
	return appendReason(b, DISCONNECT, p.Code, p.Properties)
}

// Auth is an AUTH (§3.15), which only MQTT 5.0 has.
type Auth struct {
	Code       Code
	Properties Properties
}

// Auth decodes an AUTH.
func (d *Decoder) Auth(f Frame) (Auth, error) {
	if d.Version != V5 {
		return Auth{}, malformed("§2.2.1 of 3.1.1", "packet type 15 is reserved")
	}
	code, properties, err := d.reason(f, AUTH, "MQTT-3.15.2-1")
	return Auth{code, properties}, err
}

// Append appends the packet in its shortest form.
func (p *Auth) Append(b []byte) ([]byte, error) {
	return appendReason(b, AUTH, p.Code, p.Properties)
}

// reason decodes a packet that is a reason code and properties, both of which may be left out.
func (d *Decoder) reason(f Frame, want Type, clause string) (Code, Properties, error) {
	r := d.open(f, want)
	if d.Version != V5 || len(r.body) == 0 {
		return Success, nil, r.end()
	}
	code := Code(r.byte())
	if !code.allowed(want) {
		return Success, nil, malformed(clause, "a %s has no %s", want, code)
	}
	if len(r.body) == 0 {
		return code, nil, r.end()
	}
	properties := d.properties(&r, want)
	return code, properties, r.end()
}

func appendReason(b []byte, t Type, code Code, properties Properties) ([]byte, error) {
	size := 0
	if len(properties) > 0 {
		size = 1 + properties.sectionSize(V5)
	} else if code != Success {
		size = 1
	}
	b, err := appendHeader(b, t, 0, size)
	if err != nil || size == 0 {
		return b, err
	}
	b = append(b, byte(code))
	if size > 1 {
		b = properties.appendSection(b, V5)
	}
	return b, nil
}
