import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

private enum FailureKind: Equatable {
    case cannotConnect, timedOut, connectionLost, truncated, malformed, other(String), none

    init(_ error: any Error) {
        switch error as? TransportError {
        case .cannotConnect: self = .cannotConnect
        case .timedOut: self = .timedOut
        case .connectionLost: self = .connectionLost
        case .truncated: self = .truncated
        case .malformed: self = .malformed
        default: self = .other("\(error)")
        }
    }
}

extension TransportSubject {
    /// Sends a request to a peer and returns the kind of failure.
    fileprivate func failure(
        of peer: RawPeer, silence: Duration = .seconds(30), method: HTTPRequest.Method = .get
    ) async throws -> FailureKind {
        var kind = FailureKind.none
        try await alone(silence: silence, port: peer.port) { wire in
            do {
                let (_, body) = try await wire.send(method, body: method == .post ? ByteStream([1]) : nil)
                while try await body.next() != nil {}
            } catch {
                kind = FailureKind(error)
            }
        }
        try await peer.stop()
        return kind
    }
}

extension TransportCheck {
    /// Checks of failures. The kind of a failure decides whether a change may be repeated.
    static let failures: [TransportCheck] = [
        TransportCheck("a refused connection is certainly unsent", needs: [.sockets]) { subject in
            let peer = try await RawPeer(then: .close)
            try await peer.stop()
            try await subject.alone(port: peer.port) { wire in
                do {
                    _ = try await wire.send()
                } catch let error as TransportError {
                    return try expect(error.isCertainlyUnsent, "it counts as perhaps sent: \(error)")
                }
                throw ConformanceFailure("no error came")
            }
        },
        TransportCheck("what is sent after the end is certainly unsent", needs: [.sockets]) { subject in
            let peer = try await RawPeer(then: .close)
            try await peer.stop()
            let wire = try await subject.ended(port: peer.port)
            for body in [nil, ByteStream([1])] {
                do {
                    _ = try await wire.send(body == nil ? .get : .post, body: body)
                } catch {
                    try expect(FailureKind(error), is: .cannotConnect, "the failure")
                    continue
                }
                throw ConformanceFailure("no error came")
            }
        },
        TransportCheck("a name that does not resolve is certainly unsent", needs: [.sockets]) { subject in
            try await subject.alone(port: 80) { wire in
                do {
                    _ = try await wire.send(authority: "no-such-host.invalid")
                } catch let error as TransportError {
                    return try expect(FailureKind(error), is: .cannotConnect, "the failure")
                }
                throw ConformanceFailure("no error came")
            }
        },
        TransportCheck("a URL that is not http is refused", needs: [.sockets]) { subject in
            try await subject.alone(port: 1) { wire in
                do {
                    _ = try await wire.send(scheme: "ftp")
                } catch let error as TransportError {
                    return try expect(error, is: .invalidURL("ftp://127.0.0.1:1/"), "the error")
                }
                throw ConformanceFailure("no error came")
            }
        },
        TransportCheck("a connection that ends before the answer leaves the request in doubt", needs: [.sockets]) {
            subject in
            for ending in [RawPeer.Ending.close, .reset] {
                for method in [HTTPRequest.Method.get, .post] {
                    let peer = try await RawPeer(then: ending)
                    let kind = try await subject.failure(of: peer, method: method)
                    try expect(kind, is: .connectionLost, "\(method), \(ending)")
                }
            }
        },
        TransportCheck("a body shorter than announced is truncated", needs: [.sockets, .noticesTruncation]) { subject in
            for ending in [RawPeer.Ending.close, .reset] {
                let peer = try await RawPeer(
                    sends: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", then: ending)
                try expect(try await subject.failure(of: peer), is: .truncated, "\(ending)")
            }
        },
        TransportCheck("a chunked body without its last chunk is truncated", needs: [.sockets, .noticesTruncation]) {
            subject in
            let peer = try await RawPeer(
                sends: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n", then: .close)
            try expect(try await subject.failure(of: peer), is: .truncated, "the failure")
        },
        TransportCheck("an answer that is not HTTP is an error", needs: [.sockets]) { subject in
            let peer = try await RawPeer(sends: "SSH-2.0-OpenSSH_9.2\r\n\r\n", then: .close)
            let kind = try await subject.failure(of: peer)
            try expect(kind == .malformed || kind == .connectionLost, "the failure is \(kind)")
        },
        TransportCheck("silence is a timeout", needs: [.sockets]) { subject in
            let peer = try await RawPeer(then: .silence)
            let begin = ContinuousClock.now
            try expect(try await subject.failure(of: peer, silence: .seconds(1)), is: .timedOut, "the failure")
            // The limit is well below the default timeout of 30 seconds.
            try expect(ContinuousClock.now - begin < .seconds(25), "it took \(ContinuousClock.now - begin)")
        },
        TransportCheck("silence within the body is a timeout", needs: [.sockets, .timesOutWithinBody]) { subject in
            let peer = try await RawPeer(
                sends: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", then: .silence)
            try expect(try await subject.failure(of: peer, silence: .seconds(1)), is: .timedOut, "the failure")
        },
        TransportCheck(
            "a reader may pause for longer than the service may be silent",
            needs: [.sockets, .streamsDownloads, .holdsBack]
        ) { subject in
            try await subject.joined(silence: .seconds(5)) { _, _ in
                let left = Mutex(64)
                return (
                    HTTPResponse(status: .ok),
                    ByteStream {
                        let isMore = left.withLock { left in
                            left -= 1
                            return left >= 0
                        }
                        return isMore ? [UInt8](repeating: 120, count: 65_536) : nil
                    }
                )
            } _: { wire in
                let (_, body) = try await wire.send()
                var count = try await body.next()?.count ?? 0
                try await Task.sleep(for: .seconds(7))
                while let chunk = try await body.next() { count += chunk.count }
                try expect(count == 64 * 65_536, "\(count) bytes arrived")
            }
        },
    ]
}
