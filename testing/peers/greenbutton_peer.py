"""A parser of Green Button files: prints what greenbutton-objects finds in one.

usage: greenbutton_peer.py FILE
"""

import sys

from greenbutton_objects.parse import parse_feed


def main() -> None:
    for point in parse_feed(sys.argv[1]):
        print("usage point", point.title, point.serviceCategory.name)
        for reading in sorted(point.meterReadings, key=lambda r: r.title):
            kind = reading.readingType
            names = (kind.uom.name, kind.flowDirection.name, kind.accumulationBehaviour.name)
            print(reading.title, *names, kind.intervalLength)
            for r in reading.intervalReadings:
                quality = [q.quality.name for q in r.readingQualities] or [kind.defaultQuality.name]
                value = r.value
                print(r.timePeriod.start.isoformat(), r.timePeriod.duration, f"{value:g}" if value < 1e5 else round(value), *quality)


if __name__ == "__main__":
    main()
