package mqtt

import (
	"context"
	"errors"
	"fmt"

	"voltbus/api/answer"
	"voltbus/broker/account"
	"voltbus/fault"
	"voltbus/operation"
)

// MostCertificates is how many devices get certificates at once.
const MostCertificates = 1000

var (
	errMany     = fmt.Errorf("are too many or too few at once; write 1 to %d, and ask again for the others", MostCertificates)
	errNoDevice = errors.New("there is no such device; voltbus mqtt devices lists them")
	errTwice    = errors.New("stands in the list twice")
)

func (p *Part) certifyAll(ctx context.Context, c *operation.Call, in *Names) (out answer.MQTTCertificates, err error) {
	const op = "mqtt.certify_all"
	if len(in.Devices) == 0 || len(in.Devices) > MostCertificates {
		return out, fault.E(op, fault.Invalid, "devices", errMany)
	}
	c.Did(in.Devices[0], map[string]any{"devices": len(in.Devices)})
	given := make(map[string]account.Issued, len(in.Devices))
	for _, name := range in.Devices {
		if _, is := p.Devices.Get(name); !is {
			return out, fault.E(op, fault.NotFound, name, errNoDevice)
		}
		if _, twice := given[name]; twice {
			return out, fault.E(op, fault.Invalid, name, errTwice)
		}
		given[name] = account.Issued{}
	}
	out.Devices = make([]answer.MQTTCertificate, 0, len(in.Devices))
	for _, name := range in.Devices {
		issued, err := p.Issue(name)
		if err != nil {
			return answer.MQTTCertificates{}, err
		}
		given[name] = account.Issued{Fingerprint: issued.Fingerprint, Expires: issued.Expires}
		out.Devices = append(out.Devices, answer.MQTTCertificate{
			Name: name, Certificate: issued.Certificate, Key: issued.Key, Authority: issued.Authority, Expires: issued.Expires.UTC(),
		})
	}
	if err := p.Devices.CertifyAll(ctx, given); err != nil {
		return answer.MQTTCertificates{}, err
	}
	return out, nil
}
