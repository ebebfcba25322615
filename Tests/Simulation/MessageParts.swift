import Foundation
import HTTPTypes
import ODataFormat

/// The requests in a message: the requests of a batch, or the single request.
struct MessageParts: Sendable {
    let requests: [BatchRequestPart]
    let isBatch: Bool

    init(_ request: HTTPRequest, _ body: [UInt8]) {
        let path = request.path ?? ""
        isBatch = request.method == .post && path.hasSuffix("/$batch")
        if isBatch {
            requests = Self.requests(of: body, as: request.headerFields[.contentType] ?? "")
        } else {
            let method = Self.tunnel.flatMap { request.headerFields[$0] } ?? request.method.rawValue
            requests = [BatchRequestPart(method: method, url: path, body: body)]
        }
    }

    /// The header field with which clients of OData 2.0 tunnel MERGE through POST.
    private static let tunnel = HTTPField.Name("X-HTTP-Method")

    private static func requests(of body: [UInt8], as contentType: String) -> [BatchRequestPart] {
        var requests: [BatchRequestPart] = []
        guard var reader = try? BatchRequestReader(contentType: contentType) else { return requests }
        reader.append(body)
        reader.finish()
        while var request = try? reader.next() {
            if let method = request.headers.value(of: "X-HTTP-Method") { request.method = method }
            requests.append(request)
        }
        return requests
    }

    /// The message as a line of the trace, without random parts: the tokens of the service and the batch
    /// boundaries.
    var text: String {
        let texts = requests.map { request in
            let end = request.url.range(of: "token=")?.upperBound ?? request.url.endIndex
            return "\(request.method) \(request.url[..<end]) \(String(decoding: request.body, as: UTF8.self))"
        }
        return isBatch ? "POST /$batch [\(texts.joined(separator: "; "))]" : texts.joined()
    }

    /// Returns whether a response states that the service recognises repeats of the requests.
    func isConfirmed(by response: HTTPResponse, _ body: [UInt8]) -> Bool {
        if response.headerFields[.repeatabilityResult] == "accepted" { return true }
        guard isBatch, var reader = try? BatchResponseReader(contentType: response.headerFields[.contentType] ?? "")
        else { return false }
        reader.append(body)
        reader.finish()
        while let answer = try? reader.next() {
            if answer.headers.value(of: "Repeatability-Result") == "accepted" { return true }
        }
        return false
    }

    /// Returns the status of each refused request, and whether it was refused because the service had forgotten
    /// it. The status of a batch does not depend on its requests.
    func refusals(in response: HTTPResponse, _ body: [UInt8]) -> [(status: Int, isForgotten: Bool)] {
        func refusal(_ status: Int, _ result: String?) -> (status: Int, isForgotten: Bool)? {
            status < 400 ? nil : (status, status == 412 && result == "rejected")
        }
        if let own = refusal(response.status.code, response.headerFields[.repeatabilityResult]) {
            // A service that does not support this kind of batch has not refused its single requests.
            return isBatch && own.status == 501 ? [] : [own]
        }
        guard isBatch, var reader = try? BatchResponseReader(contentType: response.headerFields[.contentType] ?? "")
        else { return [] }
        reader.append(body)
        reader.finish()
        var refusals: [(status: Int, isForgotten: Bool)] = []
        while let answer = try? reader.next() {
            if let refusal = refusal(answer.status, answer.headers.value(of: "Repeatability-Result")) {
                refusals.append(refusal)
            }
        }
        return refusals
    }
}
