import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// Reports the number of transferred bytes, applies a ``Bandwidth``, and splits the response into chunks of
/// limited size.
///
/// Place it next to the transport, so that the count of each attempt starts at zero.
public struct ProgressTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let bandwidth: Bandwidth?
    private let chunkSize: ChunkSize

    /// Wraps a transport.
    ///
    /// - Parameter chunkSize: The maximum size of a chunk of a response, unless the options of a request set
    ///   another one.
    public init(_ base: any HTTPTransport, bandwidth: Bandwidth? = nil, chunkSize: ChunkSize = .standard) {
        self.base = base
        self.bandwidth = bandwidth
        self.chunkSize = chunkSize
    }

    /// Sends a request and reports its progress.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        var upload = body
        if let body, bandwidth != nil || options.report != nil {
            let count = Count()
            upload = body.observed { chunk in
                guard let chunk else { return }
                try await bandwidth?.pass(chunk.count)
                options.report?(.sent(count.add(chunk.count), of: body.length))
            }
        }
        options.departure?.leave()
        let (response, whole): (HTTPResponse, ByteStream)
        do {
            (response, whole) = try await base.send(request, body: upload, options: options)
        } catch let error as TransportError where error.isCertainlyUnsent {
            options.departure?.comeBack()
            throw error
        }
        let stream = whole.chunks(of: options.chunkSize ?? chunkSize)
        guard bandwidth != nil || options.report != nil else { return (response, stream) }
        let count = Count()
        let length = stream.length
        let measured = stream.observed { chunk in
            guard let chunk else { return }
            try await bandwidth?.pass(chunk.count)
            options.report?(.received(count.add(chunk.count), of: length))
        }
        return (response, measured)
    }

    private final class Count: Sendable {
        private let total = Mutex(Int64(0))

        func add(_ bytes: Int) -> Int64 {
            total.withLock { total in
                total += Int64(bytes)
                return total
            }
        }
    }
}

extension ByteStream {
    /// Returns the same bytes in chunks of limited size. Smaller pieces are passed on without delay.
    public func chunks(of size: ChunkSize) -> ByteStream {
        if let length, length <= size.bytes { return self }
        let cutter = ChunkCutter(source: self, size: size.bytes)
        return ByteStream(length: length) { try await cutter.next() }
    }
}

/// Splits chunks that are too large, and buffers one chunk of the source.
private actor ChunkCutter {
    private let source: ByteStream
    private let size: Int
    private var rest: ArraySlice<UInt8> = []

    init(source: ByteStream, size: Int) {
        self.source = source
        self.size = size
    }

    func next() async throws -> [UInt8]? {
        if rest.isEmpty {
            guard let chunk = try await source.next() else { return nil }
            if chunk.count <= size { return chunk }
            rest = chunk[...]
        }
        defer { rest = rest.dropFirst(size) }
        return Array(rest.prefix(size))
    }
}
