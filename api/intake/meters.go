package intake

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"strconv"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/operation/transport"
)

// Meters is the web service of a metering data system.
type Meters interface {
	// Weight returns the most memory, in bytes, that reading and answering a message takes.
	Weight(m *answer.Message) int64
	// Record records the readings of a message.
	Record(ctx context.Context, m *answer.Message) (answer.Reply, error)
	// Pass records readings forwarded by another member of the cluster.
	Pass(ctx context.Context, m *answer.Message) (answer.Reply, error)
	// SOAP answers a message of the service; errors are answered, too.
	SOAP(ctx context.Context, m *answer.Message) answer.Reply
	// Description is the WSDL of the service at an address.
	Description(address string) answer.Reply
}

var errSOAPMedia = errors.New("the body must be text/xml (SOAP 1.1) or application/soap+xml (SOAP 1.2); set Content-Type")

const soapPath = exchange.Prefix + "/metering/soap"

func (s *Intake) meterRoutes() []exchange.Route {
	return []exchange.Route{
		exchange.Carried(transport.Meters, s.meterMessage), exchange.Carried(transport.MeterPassing, s.meterPassing), exchange.Carried(transport.SOAP, s.meterSOAP), exchange.Carried(transport.WSDL, s.meterWSDL),
	}
}

// meterMessage records the readings in a message from another metering system.
func (s *Intake) meterMessage(w http.ResponseWriter, r *exchange.Request) error {
	return s.withMessage(w, r, func(ctx context.Context, m *answer.Message) (answer.Reply, error) { return s.Meters.Record(ctx, m) })
}

// clusterHeader names the cluster to which a member belongs, in its own view.
const clusterHeader = "Voltbus-Cluster"

// meterPassing records readings forwarded by another member of the cluster.
func (s *Intake) meterPassing(w http.ResponseWriter, r *exchange.Request) error {
	return s.withMessage(w, r, func(ctx context.Context, m *answer.Message) (answer.Reply, error) {
		m.Member, _ = r.User.MemberName()
		m.Digest = r.Header.Get(clusterHeader)
		return s.Meters.Pass(ctx, m)
	})
}

// meterSOAP serves the web service.
func (s *Intake) meterSOAP(w http.ResponseWriter, r *exchange.Request) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "text/xml" && media != "application/soap+xml" {
		return exchange.Fail(http.StatusUnsupportedMediaType, errSOAPMedia)
	}
	return s.withMessage(w, r, func(ctx context.Context, m *answer.Message) (answer.Reply, error) {
		return s.Meters.SOAP(ctx, m), nil
	})
}

// withMessage reads a whole message, has it answered, and writes the reply.
func (s *Intake) withMessage(w http.ResponseWriter, r *exchange.Request, do func(context.Context, *answer.Message) (answer.Reply, error)) error {
	if s.Meters == nil {
		return exchange.Absent("metering")
	}
	if err := s.MayRecord(r.User.Name); err != nil {
		return err
	}
	content, err := s.bodies.read(r.Request, r.User.Name)
	if err != nil {
		return err
	}
	defer content.release()
	message := &answer.Message{Sender: exchange.ActorOf(r.User), Under: r.User.Under, Media: r.Header.Get("Content-Type"), Body: content.data}
	release, err := s.weights.Take(r.User.Name, s.Meters.Weight(message))
	if err != nil {
		return err
	}
	defer release()
	if err := r.Again(); err != nil { // the body may have taken minutes
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), commitTimeout)
	defer cancel()
	reply, err := do(ctx, message)
	if fault.Is(err, fault.Unavailable) {
		w.Header().Set("Retry-After", retryWrite)
	}
	if err != nil {
		return err
	}
	s.Charge(r.User.Name, reply.Readings)
	writeReply(w, reply)
	return nil
}

// meterWSDL describes the web service, at the address by which the client reached it.
func (s *Intake) meterWSDL(w http.ResponseWriter, r *exchange.Request) error {
	if s.Meters == nil {
		return exchange.Absent("metering")
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	writeReply(w, s.Meters.Description(scheme+r.Host+soapPath))
	return nil
}

func writeReply(w http.ResponseWriter, reply answer.Reply) {
	w.Header().Set("Content-Type", reply.Media)
	w.Header().Set("Content-Length", strconv.Itoa(len(reply.Body)))
	w.WriteHeader(reply.Status)
	_, _ = w.Write(reply.Body) // an error means that the sender has disconnected
}
