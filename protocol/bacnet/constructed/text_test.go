package constructed_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

func TestConstructedPropertiesAreShownInWords(t *testing.T) {
	eight := "B4 08000000 44 41A80000 B4 11000000 00" // 08:00 21.0, 17:00 null (clause 21, BACnetTimeValue)
	for _, tt := range []struct {
		name, octets, want string
		property           enum.Property
	}{
		{
			"12.24.7 weekly-schedule", strings.Repeat("0E "+eight+" 0F", 5) + "0E 0F 0E 0F",
			strings.Repeat("D 08:00:00.00 21, 17:00:00.00 null; ", 5) + "Sat none; Sun none", enum.PropertyWeeklySchedule,
		},
		{"12.24.7 one day of it", "0E " + eight + " 0F", "08:00:00.00 21, 17:00:00.00 null", enum.PropertyWeeklySchedule},
		{"12.24.8 exception-schedule by a calendar", "1C 01800001 2E 0F", "", enum.PropertyExceptionSchedule},
		{"12.24.8 exception-schedule by a calendar, whole", "1C 01800001 2E " + eight + " 2F 39 0A", "calendar:1: 08:00:00.00 21, 17:00:00.00 null (priority 10)", enum.PropertyExceptionSchedule},
		{"12.24.8 on a date", "0E 0C 7E0C19FF 0F 2E 2F 39 10", "2026-12-25: none (priority 16)", enum.PropertyExceptionSchedule},
		{"12.9.6 date-list", "0C 7E0C19FF 1E A4 7E0701FF A4 7E080FFF 1F 2B 0D06FF", "2026-12-25; 2026-07-01 to 2026-08-15; each day in week 1 from the end of odd months", enum.PropertyDateList},
		{"12.24.6 effective-period", "A4 7E0101FF A4 FFFFFFFF", "2026-01-01 to *-*-*", enum.PropertyEffectivePeriod},
		{"12.25.8 log-device-object-property", "0C 00000001 19 55 3C 0200000B", "device:11 analog-input:1 present-value", enum.PropertyLogDeviceObjectProperty},
		{
			"12.21.8 recipient-list", "82 01FE B4 00000000 B4 173B3B63 1E 21 00 65 06 0A420002BAC0 1F 21 01 11 82 05E0",
			"0:0x0a420002bac0 process 1 confirmed, days 1111111 from 00:00:00.00 to 23:59:59.99, transitions 111", enum.PropertyRecipientList,
		},
		{"12.2.20 event-time-stamps", "0C 08000000 19 05 2E A4 7E0C19FF B4 08000000 2F", "08:00:00.00; #5; 2026-12-25 08:00:00.00", enum.PropertyEventTimeStamps},
		{"a present value", "44 41A80000", "", enum.PropertyPresentValue},
	} {
		p, err := hex.DecodeString(strings.ReplaceAll(tt.octets, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, known := constructed.Text(tt.property, encoding.Any(p))
		if strings.HasPrefix(tt.want, "D ") {
			for _, day := range []string{"Mon", "Tue", "Wed", "Thu", "Fri"} {
				tt.want = strings.Replace(tt.want, "D ", day+" ", 1)
			}
		}
		if known != (tt.want != "") || known && got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, known, tt.want)
		}
	}
}
