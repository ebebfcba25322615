import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// A transport that returns the text for a path, in chunks.
final class PagesTransport: HTTPTransport {
    let answers: Mutex<[String: String]>
    private let chunk: Int

    init(answers: [String: String], chunk: Int = 65_536) {
        self.answers = Mutex(answers)
        self.chunk = chunk
    }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let path = (request.path ?? "/").dropFirst().removingPercentEncoding ?? ""
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = path == "$metadata" ? "application/xml" : "application/json"
        let text = answers.withLock { answers in
            answers[path] ?? answers[String(path.prefix { $0 != "?" })]
        }
        guard let text, !path.contains("$count") else { return (HTTPResponse(status: .notFound), ByteStream([])) }
        let bytes = Array(text.utf8)
        let position = Mutex(0)
        let size = chunk
        return (
            response,
            ByteStream {
                position.withLock { start in
                    guard start < bytes.count else { return nil }
                    defer { start += size }
                    return Array(bytes[start..<min(start + size, bytes.count)])
                }
            }
        )
    }
}
