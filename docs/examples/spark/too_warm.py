"""Raise an alert in Voltbus for each zone that was too warm all the time, as Spark finds it in the Parquet files of many nodes.

    spark-submit too_warm.py fleet/readings --above 26 --minutes 60

Run it from time to time. A zone that was within the limit has its alert cleared; one without readings keeps it: nothing is known of it. The node and
the key of the agent come from VOLTBUS_BUS, VOLTBUS_CA, VOLTBUS_KEY and VOLTBUS_AGENT.
"""

import argparse
import asyncio
from datetime import datetime, timedelta, timezone

import voltbus
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def coolest(files, since):
    """Return the lowest good value of each point since a time."""
    spark = SparkSession.builder.appName("too-warm").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    rows = (
        spark.read.parquet(files)
        .where(F.col("date") >= F.lit(since.date()))  # other days' files are not opened
        .where(F.col("time") >= F.lit(since))
        .where("quality NOT LIKE 'bad%'")
        .groupBy("point")
        .agg(F.min("value").alias("least"), F.count("*").alias("readings"))
        .where("readings >= 3")
        .collect()
    )
    spark.stop()
    return {row.point: row.least for row in rows}


async def tell(least, above):
    """Raise and clear alerts; return how many are open."""
    warm = {point: value for point, value in least.items() if value > above}
    async with voltbus.connect() as bus:
        for point, value in warm.items():
            await bus.alert(f"too-warm/{point}", f"{point}: never below {value:g}, above {above:g} all the time", "warning")
        for point in least.keys() - warm.keys():
            await bus.clear(f"too-warm/{point}")
    return len(warm)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("files", help="the folder, or s3a:// and the bucket")
    options.add_argument("--above", type=float, required=True, help="the limit, in the unit of the points")
    options.add_argument("--minutes", type=int, default=60, help="how far back readings count")
    given = options.parse_args()
    least = coolest(given.files, datetime.now(timezone.utc) - timedelta(minutes=given.minutes))
    warm = asyncio.run(tell(least, given.above))
    print(f"{len(least)} points, {warm} too warm")


main()
