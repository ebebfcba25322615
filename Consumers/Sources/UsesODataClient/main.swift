import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService

print(Authentication.basic(user: "me", password: "never printed"))

// A session around a transport in memory: what an app does around one with sockets.
let loopback = LoopbackTransport { request, _ in
    (HTTPResponse(status: .ok), ByteStream(Array((request.headerFields[.cookie] ?? "no cookie").utf8)))
}
let session = try HTTPSession(loopback, serviceRoot: "https://service.test/")
let request = HTTPRequest(method: .get, scheme: "https", authority: "service.test", path: "/")
for await event in session.events(of: request) { print(event) }
