import HTTPTypes
import ODataHTTP
import ODataService

extension TransportCheck {
    /// Checks of cancellation, unread bodies and concurrent requests.
    static let limits: [TransportCheck] = [
        TransportCheck("cancelling before the answer stops the socket", needs: [.sockets]) { subject in
            let peer = try await RawPeer(then: .silence)
            try await subject.alone(port: peer.port) { wire in
                let task = Task { try await wire.send() }
                try await eventually("the request arrives") { !peer.received.isEmpty }
                let begin = ContinuousClock.now
                task.cancel()
                do {
                    _ = try await task.value
                    throw ConformanceFailure("no error came")
                } catch is CancellationError {
                    try expect(ContinuousClock.now - begin < .seconds(25), "giving up took long")
                }
                try await eventually("the connection is closed") { peer.open == 0 }
            }
            try await peer.stop()
        },
        TransportCheck("cancelling within the body stops the socket", needs: [.sockets, .streamsDownloads]) { subject in
            let peer = try await RawPeer(
                sends: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", then: .silence)
            try await subject.alone(port: peer.port) { wire in
                let (_, body) = try await wire.send()
                _ = try await body.next()
                let task = Task { try await body.next() }
                try await Task.sleep(for: .milliseconds(100))
                task.cancel()
                do {
                    _ = try await task.value
                    throw ConformanceFailure("no error came")
                } catch is CancellationError {}
                try await eventually("the connection is closed") { peer.open == 0 }
            }
            try await peer.stop()
        },
        TransportCheck("a body that is left unread gives its connection back or closes it", needs: [.closesUnread]) {
            subject in
            let peer = try await RawPeer(
                sends: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", then: .silence)
            try await subject.alone(port: peer.port) { wire in
                for _ in 0..<20 { _ = try await wire.send() }
                try await eventually("all connections are closed") { peer.open == 0 }
            }
            try await peer.stop()
        },
        TransportCheck("many requests at once are all answered") { subject in
            try await subject.joined { request, _ in
                (HTTPResponse(status: .ok), ByteStream(Array((request.path ?? "").utf8)))
            } _: { wire in
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<200 {
                        group.addTask { try await wire.text(.get, "/\(number)").1 == "/\(number)" }
                    }
                    for try await isRight in group { try expect(isRight, "an answer is another request's") }
                }
            }
        },
    ]
}
