import ODataHTTP

print(TransportError.timedOut(host: "example.org"))
