import ODataTransportNIO

let transport = try NIOTransport()
try await transport.shutdown()
print("connected to nobody")
