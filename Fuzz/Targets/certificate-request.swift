// Certificate requests (PKCS#10): any bytes are refused, or are a request with an accepted key.
import Foundation

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    do {
        let request = try CertificateRequest(bytes)
        promise(bytes.count <= CertificateRequest.maxLength, "a long request was read")
        promise("\(request.publicKey)".contains("P256") || "\(request.publicKey)".contains("RSA"), "another key")
    } catch {
        promise(!error.description.isEmpty, "a refusal without a reason")
    }
    return 0
}
