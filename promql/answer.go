package promql

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/prometheus/prometheus/model/labels"
	prom "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"voltbus/fault"
	"voltbus/point"
)

// succeed writes an answer.
func succeed(w http.ResponseWriter, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	body := append([]byte(`{"status":"success","data":`), data...)
	_, _ = w.Write(append(body, '}')) // an error means that the client has disconnected
}

// fail writes an error as Prometheus does.
func fail(w http.ResponseWriter, err error) {
	name, status := "internal", http.StatusInternalServerError
	switch fault.KindOf(err) {
	case fault.Invalid:
		name, status = "bad_data", http.StatusBadRequest
	case fault.NotFound:
		name, status = "not_found", http.StatusNotFound
	case fault.Rejected:
		name, status = "execution", http.StatusUnprocessableEntity
	case fault.Timeout:
		name, status = "timeout", http.StatusServiceUnavailable
	case fault.Canceled:
		name, status = "canceled", 499
	case fault.Unavailable:
		name, status = "unavailable", http.StatusServiceUnavailable
	case fault.Internal, fault.Unreachable, fault.Refused, fault.Conflict, fault.Corrupt:
	}
	body, merr := json.Marshal(map[string]string{"status": "error", "errorType": name, "error": err.Error()})
	if merr != nil {
		body = []byte(`{"status":"error","errorType":"internal","error":""}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has disconnected
}

// appendResult writes the value of a query as Prometheus does.
func appendResult(dst []byte, v parser.Value) []byte {
	dst = append(dst, `{"resultType":"`...)
	dst = append(dst, v.Type()...)
	dst = append(dst, `","result":`...)
	switch v := v.(type) {
	case prom.Scalar:
		dst = appendPoint(dst, v.T, v.V)
	case prom.String:
		dst = append(appendTime(append(dst, '['), v.T), ',')
		dst = append(point.AppendQuoted(dst, v.V), ']')
	case prom.Vector:
		dst = append(dst, '[')
		for i := range v {
			dst = appendMetric(comma(dst, i), v[i].Metric)
			dst = append(appendPoint(append(dst, `,"value":`...), v[i].T, v[i].F), '}')
		}
		dst = append(dst, ']')
	case prom.Matrix:
		dst = append(dst, '[')
		for i := range v {
			dst = append(appendMetric(comma(dst, i), v[i].Metric), `,"values":[`...)
			for j, p := range v[i].Floats {
				dst = appendPoint(comma(dst, j), p.T, p.F)
			}
			dst = append(dst, ']', '}')
		}
		dst = append(dst, ']')
	default:
		dst = append(dst, "null"...)
	}
	return append(dst, '}')
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

func appendMetric(dst []byte, ls labels.Labels) []byte {
	b, err := ls.MarshalJSON()
	if err != nil {
		b = []byte("{}")
	}
	return append(append(dst, `{"metric":`...), b...)
}

func appendPoint(dst []byte, t int64, v float64) []byte {
	dst = append(appendTime(append(dst, '['), t), ',', '"')
	dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	return append(dst, '"', ']')
}

// appendTime writes milliseconds as seconds.
func appendTime(dst []byte, t int64) []byte {
	return strconv.AppendFloat(dst, float64(t)/1000, 'f', -1, 64)
}
