import ODataServer

print(ODataServer.Configuration(port: 0).host)
