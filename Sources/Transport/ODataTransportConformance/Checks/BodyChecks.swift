import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// A body that is produced in chunks and counts its reads.
final class CountedBody: Sendable {
    private let count = Mutex(0)
    private let chunks: Int
    private let size: Int

    init(chunks: Int, size: Int) {
        self.chunks = chunks
        self.size = size
    }

    var produced: Int { count.withLock { $0 } }

    func stream(length: Int64? = nil) -> ByteStream {
        ByteStream(length: length) {
            let number = self.count.withLock { count in
                count += 1
                return count
            }
            return number > self.chunks ? nil : [UInt8](repeating: 65, count: self.size)
        }
    }
}

extension TransportCheck {
    /// Checks of long and slow bodies.
    static let bodies: [TransportCheck] = [
        TransportCheck("a response is given before its body is produced", needs: [.streamsDownloads]) { subject in
            let gate = AsyncStream.makeStream(of: Void.self)
            try await subject.joined { _, _ in
                let left = Mutex(2)
                let body = ByteStream {
                    let number = left.withLock { left in
                        left -= 1
                        return left
                    }
                    if number == 1 { return [1] }
                    for await _ in gate.stream { break }
                    return number == 0 ? [2] : nil
                }
                return (HTTPResponse(status: .ok), body)
            } _: { wire in
                let (response, body) = try await wire.send()
                try expect(response.status.code, is: 200, "status")
                try expect(try await body.next(), is: [1], "the first chunk")
                gate.continuation.yield()
                gate.continuation.finish()
                try expect(try await body.collect(limit: 10), is: [2], "the rest")
            }
        },
        TransportCheck("a slow reader holds the service back", needs: [.holdsBack]) { subject in
            let source = CountedBody(chunks: 8000, size: 16_384)
            try await subject.joined { _, _ in
                (HTTPResponse(status: .ok), source.stream())
            } _: { wire in
                let (_, body) = try await wire.send()
                var total = try await body.next()?.count ?? 0
                // The whole body has 131 MB. Buffers hold part of it, and when they are full, no more chunks
                // are produced.
                var held: Int
                repeat {
                    held = source.produced
                    try await Task.sleep(for: .milliseconds(300))
                } while source.produced != held
                try expect(held < 8000, "all of \(held) chunks were produced ahead")
                while let chunk = try await body.next() { total += chunk.count }
                try expect(total, is: 8000 * 16_384, "bytes")
            }
        },
        TransportCheck("a slow service holds the request body back", needs: [.streamsUploads]) { subject in
            let source = CountedBody(chunks: 8000, size: 16_384)
            let gate = AsyncStream.makeStream(of: Void.self)
            try await subject.joined { _, body in
                for await _ in gate.stream { break }
                var count = 0
                while let chunk = try? await body.next() { count += chunk.count }
                return (HTTPResponse(status: .ok), ByteStream(Array("\(count)".utf8)))
            } _: { wire in
                async let answer = wire.text(.put, body: source.stream(length: 8000 * 16_384))
                try await Task.sleep(for: .milliseconds(500))
                let held = source.produced
                gate.continuation.yield()
                gate.continuation.finish()
                let (_, text) = try await answer
                try expect(held < 8000, "all of \(held) chunks were taken ahead")
                try expect(text, is: "\(8000 * 16_384)", "bytes")
            }
        },
        TransportCheck("a request body of unknown length is sent as it is produced", needs: [.streamsUploads]) {
            subject in
            let (seen, saw) = AsyncStream.makeStream(of: Void.self)
            try await subject.joined { _, body in
                var count = 0
                while let chunk = try? await body.next() {
                    count += chunk.count
                    saw.yield()
                }
                return (HTTPResponse(status: .ok), ByteStream(Array("\(count) \(body.length ?? -1)".utf8)))
            } _: { wire in
                let left = Mutex(3)
                let body = ByteStream {
                    let number = left.withLock { left in
                        left -= 1
                        return left
                    }
                    // The second chunk is produced only after the service has received the first.
                    if number == 1 { for await _ in seen { break } }
                    return number < 0 ? nil : [UInt8](repeating: 1, count: 10_000)
                }
                let (_, text) = try await wire.text(.put, body: body)
                try expect(text, is: "30000 -1", "bytes and announced length")
            }
        },
        TransportCheck("a request body of known length is announced") { subject in
            try await subject.joined { request, body in
                let count = (try? await body.collect(limit: 1000))?.count ?? -1
                return (HTTPResponse(status: .ok), ByteStream(Array("\(count) \(body.length ?? -1)".utf8)))
            } _: { wire in
                let (_, text) = try await wire.text(.put, body: ByteStream([1, 2, 3]))
                try expect(text, is: "3 3", "bytes and announced length")
            }
        },
        TransportCheck("what the producer of a request body throws reaches the caller", needs: [.sockets]) { subject in
            try await subject.joined { _, body in
                while (try? await body.next()) != nil {}
                return (HTTPResponse(status: .ok), ByteStream([]))
            } _: { wire in
                let body = ByteStream { throw ODataError(status: 410, code: "X", message: "gone") }
                do {
                    _ = try await wire.send(.put, body: body)
                } catch let error as ODataError {
                    return try expect(error.status, is: 410, "the error's status")
                }
                throw ConformanceFailure("no error came")
            }
        },
        TransportCheck(
            "an answer that comes before the request is sent whole is given", needs: [.sockets, .streamsUploads]
        ) { subject in
            let peer = try await RawPeer(
                sends: "HTTP/1.1 401 Unauthorized\r\nContent-Length: 3\r\n\r\nwho", then: .silence)
            try await subject.alone(port: peer.port) { wire in
                let source = CountedBody(chunks: 500, size: 16_384)
                let (response, text) = try await wire.text(.put, body: source.stream(length: 500 * 16_384))
                try expect(response.status.code, is: 401, "status")
                try expect(text, is: "who", "the body")
            }
            try await peer.stop()
        },
        TransportCheck(
            "a refusal that ends after the request is given", needs: [.sockets, .streamsUploads]
        ) { subject in
            let head = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 3\r\n\r\n"
            let peer = try await RawPeer(sends: head, then: .rest("who", after: .milliseconds(500)))
            try await subject.alone(port: peer.port) { wire in
                let left = Mutex(3)
                // The head arrives while the request is produced; the rest of the request is not needed.
                let body = ByteStream(length: 3 * 50_000) {
                    let number = left.withLock { left in
                        left -= 1
                        return left
                    }
                    if number < 2 { try await Task.sleep(for: .milliseconds(100)) }
                    return number < 0 ? nil : [UInt8](repeating: 1, count: 50_000)
                }
                let (response, text) = try await wire.text(.put, body: body)
                try expect(response.status.code, is: 401, "status")
                try expect(text, is: "who", "the body")
            }
            try await peer.stop()
        },
        TransportCheck(
            "an answer that comes before the request is read is given", needs: [.sockets, .streamsUploads]
        ) { subject in
            try await subject.joined { _, _ in
                (HTTPResponse(status: .unauthorized), ByteStream(Array("who".utf8)))
            } _: { wire in
                for _ in 0..<3 {
                    // Servers read this number of unwanted bytes instead of closing the connection.
                    let source = CountedBody(chunks: 50, size: 16_384)
                    let (response, text) = try await wire.text(.put, body: source.stream(length: 50 * 16_384))
                    try expect(response.status.code, is: 401, "status")
                    try expect(text, is: "who", "the body")
                }
            }
        },
        TransportCheck("several megabytes go both ways unharmed") { subject in
            // All blocks differ, and only the first begins at a multiple of 16 or 64 KB.
            let block = (0..<6007).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
            let bytes = (0..<1000).reduce(into: [UInt8]()) { bytes, number in
                bytes += [UInt8(number / 256), UInt8(number % 256)]
                bytes += block
            }
            try await subject.joined { _, body in
                let all = (try? await body.collect(limit: 10_000_000)) ?? []
                return (HTTPResponse(status: .ok), ByteStream(all))
            } _: { wire in
                let (_, body) = try await wire.send(.post, body: ByteStream(bytes))
                try expect(try await body.collect(limit: 10_000_000) == bytes, "the bytes came back changed")
            }
        },
    ]
}
