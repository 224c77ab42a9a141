package master

import (
	"fmt"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/object"
)

// fileOp is an exchange of one question about a file and its answer.
type fileOp struct {
	single

	take func(o object.Raw, result *Result) error
}

func (f *fileOp) answer(fragment app.Fragment, _ time.Time, result *Result) error {
	o, ok, err := fileObject(fragment)
	if err != nil || !ok {
		return err
	}
	if status, isStatus := statusOf(o); isStatus && status != file.Success {
		return fmt.Errorf("%v: %w", status, ErrFile)
	}
	return f.take(o, result)
}

// fileObject returns the object of an answer, which has one unless it was refused.
func fileObject(f app.Fragment) (o object.Raw, ok bool, err error) {
	if refused(f.IIN) {
		return object.Raw{}, false, nil // the association says so
	}
	for h, err := range f.Headers() {
		if err != nil {
			return object.Raw{}, false, err
		}
		for o := range h.Objects() {
			return o, true, nil
		}
	}
	return object.Raw{}, false, ErrMalformed
}

// statusOf returns the status in an answer that has one.
func statusOf(o object.Raw) (file.Status, bool) {
	if s, err := file.ParseCommandStatus(o); err == nil {
		return s.Status, true
	}
	if s, err := file.ParseBlockStatus(o); err == nil {
		return s.Status, true
	}
	return 0, false
}

func newFileOp(name string, code app.Function, o app.FreeObject, take func(o object.Raw, result *Result) error) *Request {
	f := &fileOp{take: take}
	f.code = code
	f.objects = func(w *app.Writer) error { return w.Free(o) }
	return &Request{name: name, exchange: f}
}

// FileInfo describes a file or directory and gives the answer to take.
func FileInfo(name string, take func(d file.Descriptor)) *Request {
	return newFileOp("file information", app.FuncGetFileInfo, file.Descriptor{Name: name}, func(o object.Raw, _ *Result) error {
		d, err := file.ParseDescriptor(o)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		take(d)
		return nil
	})
}

// DeleteFile deletes a file. Key is that of an authentication, usually 0.
func DeleteFile(name string, key uint32) *Request {
	return newFileOp("delete file", app.FuncDeleteFile, file.Command{Name: name, Key: key}, func(object.Raw, *Result) error {
		return nil
	})
}

// AuthenticateFile gets a key for the next file operation, see Result.Key. The name and
// password travel in the clear: use TLS.
func AuthenticateFile(user, password string) *Request {
	return newFileOp("authenticate for files", app.FuncAuthenticateFile, file.Auth{User: user, Password: password},
		func(o object.Raw, result *Result) error {
			a, err := file.ParseAuth(o)
			switch {
			case err != nil:
				return fmt.Errorf("%w: %w", ErrMalformed, err)
			case a.Key == 0:
				return fmt.Errorf("%v: %w", file.PermissionDenied, ErrFile)
			}
			result.Key = a.Key
			return nil
		})
}
