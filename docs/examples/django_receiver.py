# A view of a Django application. In urls.py: path("webhooks", receive)
import os

from django.http import HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from inbox import store
from verify_webhook import is_genuine

SECRET = os.environ["WEBHOOK_SECRET"]


@csrf_exempt  # The signature proves where the request comes from.
@require_POST
def receive(request):
    body = request.body  # Bytes, of at most DATA_UPLOAD_MAX_MEMORY_SIZE.
    headers = {name.lower(): value for name, value in request.headers.items()}
    if not is_genuine(SECRET, headers, body):
        return HttpResponse(status=401)
    store(body)  # If it raises, the response is 500, and the service sends the event again.
    return HttpResponse(status=204)
