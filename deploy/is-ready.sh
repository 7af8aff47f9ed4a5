#!/bin/bash
# is-ready.sh PORT: whether /readyz of the daemon in this container is green. A shell, since an engine asks often and does
# not end what it asked: on a busy machine programs that take long to start would pile up.
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
printf 'GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' >&3
read -r -t 5 _ status _ <&3 && [ "$status" = 200 ]
