"""celery-redbeat keeps its schedule beside its lock, so the broker can't serve it."""
from celery import Celery
from celery.schedules import schedule
from common import PORTS, say, unserved
from redbeat import RedBeatSchedulerEntry

app = Celery("test", broker="memory://")
app.conf.redbeat_redis_url = f"redis://127.0.0.1:{PORTS[0]}/0"
unserved("redbeat", RedBeatSchedulerEntry("task", "task", schedule(10), app=app).save)
say("done", lambda: True)
