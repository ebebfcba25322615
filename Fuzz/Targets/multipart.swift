// Batches in multipart and in JSON, as requests and as responses.
import ODataFormat

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    // The first line of a batch tells its boundary, so that the fuzzer can change it.
    let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    let boundary = line.starts(with: [0x2D, 0x2D]) ? String(decoding: line.dropFirst(2), as: UTF8.self) : "b"
    _ = try? MultipartBatch.readRequest(bytes, boundary: boundary)
    _ = try? MultipartBatch.readResponse(bytes, boundary: boundary)
    _ = try? MultipartBatch.boundary(contentType: String(decoding: bytes, as: UTF8.self))
    _ = try? JSONBatch.readRequest(bytes)
    _ = try? JSONBatch.readResponse(bytes)
    return 0
}
