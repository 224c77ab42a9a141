package mail

import (
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strings"
)

const plainText = "text/plain; charset=utf-8"

// write writes what stands behind the fields of a letter: its text, or a multipart body with its files (RFC 2046, 5.1.3).
func (l *Letter) write(to io.Writer) error {
	text := strings.ReplaceAll(l.Text, "\n", "\r\n")
	if len(l.Files) == 0 {
		_, err := fmt.Fprintf(to, "Content-Type: %s\r\nContent-Transfer-Encoding: 8bit\r\n\r\n%s", plainText, text)
		return err
	}
	parts := multipart.NewWriter(to)
	if _, err := fmt.Fprintf(to, "Content-Type: multipart/mixed; boundary=%s\r\n\r\n", parts.Boundary()); err != nil {
		return err
	}
	part, err := parts.CreatePart(textproto.MIMEHeader{"Content-Type": {plainText}, "Content-Transfer-Encoding": {"8bit"}})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(part, text); err != nil {
		return err
	}
	for i := range l.Files {
		if err := l.Files[i].write(parts); err != nil {
			return err
		}
	}
	return parts.Close()
}

// lineBytes is how many bytes of a file make a line of base64 (RFC 2045, 6.8).
const lineBytes = 57

func (f *File) write(parts *multipart.Writer) error {
	part, err := parts.CreatePart(textproto.MIMEHeader{
		"Content-Type":              {f.Media},
		"Content-Transfer-Encoding": {"base64"},
		"Content-Disposition":       {mime.FormatMediaType("attachment", map[string]string{"filename": f.Name})},
	})
	if err != nil {
		return err
	}
	for data := f.Data; len(data) > 0; {
		n := min(len(data), lineBytes)
		if _, err := io.WriteString(part, base64.StdEncoding.EncodeToString(data[:n])+"\r\n"); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
