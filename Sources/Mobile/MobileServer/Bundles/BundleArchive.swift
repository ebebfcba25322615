import CZlib
import ODataModel
import ODataService
import ServerState

/// The check of a bundle that was received: its archive, and the manifest in it.
struct BundleArchive: Sendable {
    /// The name of the manifest in an archive.
    static let manifestName = "manifest.json"

    /// The size of the file.
    let size: Int64
    /// Returns bytes of the file from an offset on, as many as come at once; empty at the end.
    let bytes: @Sendable (Int64) async throws -> [UInt8]

    /// Checks the archive.
    ///
    /// - Returns: The manifest, a JSON object; `nil` if the archive has none.
    /// - Throws: ``ZipError``; the errors of the reader.
    func manifest() async throws -> String? {
        let length = min(size, Int64(ZipDirectory.endSize))
        let end = try ZipDirectory.end(of: try await read(size - length..<size), size: size)
        let directory = try ZipDirectory(try await read(end.range), count: end.count, size: size)
        guard let entry = directory.entries.first(where: { $0.name == Self.manifestName }) else { return nil }
        guard entry.size <= Int64(DeviceBundleLimits.manifest), entry.packedSize <= Int64(DeviceBundleLimits.manifest)
        else { throw ZipError.tooLarge }
        let header = try await read(entry.offset..<entry.offset + 30)
        let start = entry.offset + (try ZipDirectory.dataOffset(header))
        guard start + entry.packedSize <= size else { throw ZipError.damaged }
        let packed = try await read(start..<start + entry.packedSize)
        let plain = entry.isDeflated ? try Self.inflated(packed, size: Int(entry.size)) : packed
        guard plain.count == Int(entry.size), Self.checksum(plain) == entry.checksum,
            let text = String(validating: plain, as: UTF8.self)
        else { throw ZipError.damaged }
        do throws(JSONError) {
            try JSONMerge.check(plain)
        } catch {
            throw ZipError.damaged
        }
        return text
    }

    private func read(_ range: Range<Int64>) async throws -> [UInt8] {
        guard range.lowerBound >= 0, range.upperBound <= size else { throw ZipError.damaged }
        var all: [UInt8] = []
        let count = Int(range.upperBound - range.lowerBound)
        while all.count < count {
            let part = try await bytes(range.lowerBound + Int64(all.count))
            guard !part.isEmpty else { throw ZipError.damaged }
            all += part.prefix(count - all.count)
        }
        return all
    }

    /// Unpacks deflated bytes (RFC 1951) of a known size.
    static func inflated(_ packed: [UInt8], size: Int) throws(ZipError) -> [UInt8] {
        var stream = z_stream()
        guard inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw .damaged
        }
        defer { inflateEnd(&stream) }
        var status = Z_OK
        // One byte more than announced, so that a longer content is noticed.
        let plain = packed.withUnsafeBufferPointer { source in
            [UInt8](unsafeUninitializedCapacity: size + 1) { target, count in
                // zlib only reads the input buffer.
                stream.next_in = source.baseAddress.map { UnsafeMutablePointer(mutating: $0) }
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(size + 1)
                status = inflate(&stream, Z_FINISH)
                count = size + 1 - Int(stream.avail_out)
            }
        }
        guard status == Z_STREAM_END, plain.count == size else { throw .damaged }
        return plain
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBufferPointer { UInt32(truncatingIfNeeded: crc32(0, $0.baseAddress, UInt32($0.count))) }
    }
}
