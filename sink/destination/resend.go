package destination

import (
	"context"

	"voltbus/fault"
	"voltbus/judge/aside"
	"voltbus/point"
)

// resend sends what was refused, or withheld by a rule, again. It goes through the file once; what is refused again stays in it.
func (t *target) resend(ctx context.Context, file *aside.File, rule string, count func(c *Counts, accepted uint64)) (accepted int, err error) {
	t.work.Lock()
	defer t.work.Unlock()
	if err := t.unusable(); err != nil {
		return 0, err
	}
	old, rest, err := file.Of(rule)
	if err != nil {
		return 0, err
	}
	for from := 0; from < len(old); from += t.Batch {
		part := old[from:min(from+t.Batch, len(old))]
		again, failed := t.resendPart(ctx, part)
		if err = failed; err != nil {
			rest = append(rest, old[from:]...)
			break
		}
		accepted += len(part) - len(again)
		rest = append(rest, again...)
	}
	if kept := file.Replace(rest); kept != nil {
		return 0, kept // what was accepted is sent once more
	}
	if counted := t.count(func(c *Counts) { count(c, uint64(accepted)) }); counted != nil {
		return accepted, counted
	}
	return accepted, err
}

// resendPart returns those that are refused again.
func (t *target) resendPart(ctx context.Context, part []Refused) (again []Refused, err error) {
	rows := make([]Row, 0, len(part))
	of := make([]int, 0, len(part))
	for i := range part {
		shape := t.shaper.shape(point.Path(part[i].Point))
		if shape == nil {
			part[i].Reason = "the configuration no longer sends this point"
			again = append(again, part[i])
			continue
		}
		value, quality, err := part[i].Sample()
		if err != nil {
			return nil, fault.E("sinks.resend", fault.Corrupt, t.entry.Name, err)
		}
		rows, of = append(rows, Row{Shape: shape, Time: part[i].Time.UnixMicro(), Value: value, Quality: quality}), append(of, i)
	}
	if len(rows) == 0 {
		return again, nil
	}
	ctx, stop := context.WithTimeout(ctx, requestTime)
	defer stop()
	list, err := t.writer.Write(ctx, rows)
	if err != nil {
		return nil, fault.E("sinks.resend", fault.Unavailable, t.entry.Name, err)
	}
	for _, one := range list {
		same := part[of[one.Row]]
		same.At, same.Reason = t.cfg.Now().UTC(), aside.Clip(one.Reason)
		again = append(again, same)
	}
	return again, nil
}

func (t *target) count(change func(*Counts)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.p
	change(&p.Counts)
	if err := keepPosition(t.file, &p); err != nil {
		return err
	}
	t.p = p
	return nil
}
