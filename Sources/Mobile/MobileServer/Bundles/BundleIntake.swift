import Crypto
import Foundation
import ODataService
import ServerState

/// Receives customization bundles of operators: from the operators' API and from the command `bundle add`.
///
/// ```swift
/// let record = try await BundleIntake(store: store).add(key, fileExtension: "zip", stream)
/// ```
public struct BundleIntake: Sendable {
    /// The number of bytes that are written at once.
    private static let partSize = 256 << 10

    private let store: any DeviceBundleStore

    /// Creates an intake.
    public init(store: any DeviceBundleStore) { self.store = store }

    /// Writes a bundle, checks its archive, and stages it.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - fileExtension: The extension of the file, without a dot.
    ///   - body: The bytes of a zip archive, at most ``DeviceBundleLimits/size``.
    /// - Throws: ``ODataError``: 409 if the bundle exists, 413 beyond the limit, 422 for an archive that is damaged,
    ///   names files outside of it, or grows too much.
    public func add(
        _ key: DeviceBundleKey, fileExtension: String, _ body: ByteStream
    ) async throws -> DeviceBundleRecord {
        guard body.length ?? 0 <= DeviceBundleLimits.size else { throw Self.tooLarge }
        let file = DeviceDocuments.hexadecimal((0..<16).map { _ in UInt8.random(in: 0...255) })
        try await translatingState { () async throws(ServerStateError) in
            try await store.begin(key, fileExtension: fileExtension, file: file)
        }
        do {
            let (size, digest) = try await receive(body, file)
            CrashPoint.pass("bundle-received")
            let store = store
            let archive = BundleArchive(size: size) { offset in
                try await translatingState { () async throws(ServerStateError) in
                    try await store.bytes(ofFile: file, from: offset)
                }
            }
            let manifest = try await archive.manifest()
            return try await translatingState { () async throws(ServerStateError) in
                try await store.finish(file, digest: digest, manifest: manifest)
            }
        } catch {
            let store = store
            _ = await Task { try? await store.abandon(file) }.value
            guard let error = error as? ZipError else { throw error }
            throw ODataError(.policyViolated, error.description)
        }
    }

    private static let tooLarge = ODataError(
        .tooLarge, "A bundle has at most \(DeviceBundleLimits.size) bytes.")

    private func receive(_ body: ByteStream, _ file: String) async throws -> (Int64, [UInt8]) {
        var (position, digest): (Int64, SHA256) = (0, SHA256())
        var part: [UInt8] = []
        while true {
            let chunk = try await body.next()
            part += chunk ?? []
            guard position + Int64(part.count) <= DeviceBundleLimits.size else { throw Self.tooLarge }
            guard chunk == nil || part.count >= Self.partSize else { continue }
            var rest = part[...]
            while !rest.isEmpty {
                let bytes = Array(rest.prefix(DeviceBundleLimits.part))
                rest = rest.dropFirst(bytes.count)
                digest.update(data: bytes)
                position = try await translatingState { [position] () async throws(ServerStateError) in
                    try await store.append(bytes, to: file, at: position)
                }
            }
            part = []
            guard chunk != nil else { return (position, Array(digest.finalize())) }
        }
    }

    /// Returns the bytes of a bundle as a stream that can begin anywhere.
    static func stream(_ record: DeviceBundleRecord, _ store: any DeviceBundleStore) -> ByteStream {
        stream(record, store, from: 0..<record.size)
    }

    private static func stream(
        _ record: DeviceBundleRecord, _ store: any DeviceBundleStore, from range: Range<Int64>
    ) -> ByteStream {
        let position = BundlePosition(range.lowerBound)
        return ByteStream(
            length: range.upperBound - range.lowerBound,
            part: { part in
                stream(record, store, from: range.lowerBound + part.lowerBound..<range.lowerBound + part.upperBound)
            },
            {
                let start = await position.value
                guard start < range.upperBound else { return nil }
                let bytes = try await translatingState { () async throws(ServerStateError) in
                    try await store.bytes(of: record.key, from: start)
                }
                guard !bytes.isEmpty else {
                    throw ODataError(status: 500, code: "InternalError", message: "The bundle was removed.")
                }
                let part = Array(bytes.prefix(Int(range.upperBound - start)))
                await position.advance(by: part.count)
                return part
            })
    }
}

/// The position of a reader of a bundle.
private actor BundlePosition {
    private(set) var value: Int64

    init(_ value: Int64) { self.value = value }

    func advance(by count: Int) { value += Int64(count) }
}
