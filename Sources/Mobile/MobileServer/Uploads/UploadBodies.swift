import Crypto
import ODataHTTP
import ODataServer
import ODataService
import ServerState

/// Writes the bodies of uploads to the state, in parts of little memory.
struct UploadBodies: Sendable {
    /// The number of bytes that are written at once.
    static let partSize = 64 << 10
    /// The number of bodies that a node receives at once.
    static let atOnce = 1000

    let store: any DeviceUploadStore

    /// Receives a body. What has arrived when the connection ends is kept, so that the device resumes behind it.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - id: The upload.
    ///   - offset: The number of bytes before the body.
    ///   - limit: The maximum number of bytes of the whole upload.
    /// - Returns: The number of bytes of the upload now.
    /// - Throws: ``ODataError`` 413 beyond the limit, 412 if another request continues the upload.
    func receive(_ body: ByteStream, _ id: String, at offset: Int64, limit: Int64) async throws -> Int64 {
        var position = offset
        var part: [UInt8] = []
        do {
            while let chunk = try await body.next() {
                guard position + Int64(part.count + chunk.count) <= limit else {
                    throw ODataError(.tooLarge, "The upload exceeds \(limit) bytes.")
                }
                part += chunk
                guard part.count >= Self.partSize else { continue }
                position = try await write(part, id, at: position)
                part = []
            }
        } catch {
            if !part.isEmpty, !(error is ODataError) { _ = try? await write(part, id, at: position) }
            throw error
        }
        return try await write(part, id, at: position)
    }

    /// Writes a part. The write goes on if the caller has gone, since the part has arrived.
    private func write(_ part: [UInt8], _ id: String, at position: Int64) async throws -> Int64 {
        guard !part.isEmpty else { return position }
        let store = store
        return try await Task {
            var rest = part[...]
            var end = position
            while !rest.isEmpty {
                let bytes = Array(rest.prefix(DeviceUploadLimits.part))
                rest = rest.dropFirst(bytes.count)
                end = try await translatingState { [end] () async throws(ServerStateError) in
                    try await store.append(bytes, to: id, at: end)
                }
            }
            return end
        }.value
    }

    /// Returns the SHA-256 of an upload.
    func digest(of id: String, size: Int64) async throws -> [UInt8] {
        var digest = SHA256()
        var position: Int64 = 0
        while position < size {
            let bytes = try await translatingState { [position] () async throws(ServerStateError) in
                try await store.bytes(of: id, from: position)
            }
            guard !bytes.isEmpty else { break }
            digest.update(data: bytes)
            position += Int64(bytes.count)
        }
        return Array(digest.finalize())
    }

    /// Returns the bytes of an upload as a stream.
    static func stream(_ record: DeviceUploadRecord, _ store: any DeviceUploadStore) -> ByteStream {
        let position = UploadPosition()
        return ByteStream(length: record.receivedSize) {
            let bytes = try await translatingState { () async throws(ServerStateError) in
                try await store.bytes(of: record.id, from: await position.value)
            }
            guard !bytes.isEmpty else { return nil }
            await position.advance(by: bytes.count)
            return bytes
        }
    }
}

/// The position of a reader of an upload.
private actor UploadPosition {
    private(set) var value: Int64 = 0

    func advance(by count: Int) { value += Int64(count) }
}
