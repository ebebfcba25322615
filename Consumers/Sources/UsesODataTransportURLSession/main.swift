import ODataTransportURLSession

_ = URLSessionTransport()
print("connected to nobody")
