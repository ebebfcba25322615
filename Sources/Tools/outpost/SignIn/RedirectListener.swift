import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Synchronization
import ToolLanguage

/// A listener on this machine for the one request with which a browser comes back from a sign-in (RFC 8252, 7.3).
///
/// It answers that request with a fixed page, and refuses every other one. Nothing of a request is repeated in a
/// response.
final class RedirectListener: Sendable {
    /// The address that RFC 8252, 8.3 recommends.
    static let address = "127.0.0.1"
    /// The name, for servers that register no addresses.
    static let name = "localhost"
    /// The longest path with the query of a redirect.
    private static let maxLength = 16_384

    /// The address to which the browser is redirected.
    let redirectURI: String
    private let server: RunningServer
    private let desk: Desk

    private init(redirectURI: String, server: RunningServer, desk: Desk) {
        self.redirectURI = redirectURI
        self.server = server
        self.desk = desk
    }

    /// Begins to listen, on a port that the system chooses.
    ///
    /// - Parameter host: ``address`` or ``name``, for the redirect address; it listens on 127.0.0.1 in any case.
    static func open(host: String) async throws -> RedirectListener {
        var configuration = ODataServer.Configuration(host: address, compresses: false, idleTimeout: .seconds(10))
        configuration.drainTime = .seconds(1)
        let desk = Desk()
        let server = try await ODataServer(configuration: configuration) { request, _ in desk.answer(request) }.start()
        // Microsoft Entra ID compares the address without its port, but with the slash at its end.
        let end = host == name ? "" : "/"
        return RedirectListener(
            redirectURI: "http://\(host):\(server.port)\(end)", server: server, desk: desk)
    }

    /// A short address that leads to another one, once. It can be shown to other programs: the other one has secrets.
    func shortcut(to url: String) -> String {
        let path = "/" + UUID().uuidString.lowercased()
        desk.setShortcut(path, to: url)
        return "http://\(Self.address):\(server.port)\(path)"
    }

    /// Waits for the redirect.
    ///
    /// - Returns: The address to which the browser was redirected; `nil` if it did not come in time.
    func landing(within time: Duration) async throws -> String? {
        let desk = desk
        let path = try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask { await desk.landing() }
            group.addTask {
                try await Task.sleep(for: time)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        try Task.checkCancellation()
        return path.map { redirectURI + $0.drop { $0 != "?" } }
    }

    /// Stops listening, after the page has been sent.
    func close() async { await server.stop() }

    /// Answers requests.
    private final class Desk: Sendable {
        private struct State {
            var hasLanded = false
            var shortcut: (path: String, target: String)?
        }

        private let state = Mutex(State())
        private let landings: AsyncStream<String>
        private let announce: AsyncStream<String>.Continuation

        init() { (landings, announce) = AsyncStream.makeStream(of: String.self) }

        func setShortcut(_ path: String, to target: String) { state.withLock { $0.shortcut = (path, target) } }

        /// The path of the redirect; `nil` if the task was cancelled.
        func landing() async -> String? {
            for await path in landings { return path }
            return nil
        }

        func answer(_ request: HTTPRequest) -> (HTTPResponse, ByteStream) {
            let path = request.path ?? ""
            guard request.method == .get else { return Self.response(.methodNotAllowed, Self.otherPage) }
            guard path.utf8.count <= RedirectListener.maxLength else {
                return Self.response(.uriTooLong, Self.otherPage)
            }
            if let target = takeShortcut(path) {
                var (response, body) = Self.response(.found, Self.otherPage)
                response.headerFields[.location] = target
                return (response, body)
            }
            // Browsers ask for icons, too.
            guard path.hasPrefix("/?") else { return Self.response(.notFound, Self.otherPage) }
            let isFirst = state.withLock { state in
                defer { state.hasLanded = true }
                return !state.hasLanded
            }
            guard isFirst else { return Self.response(.gone, Self.otherPage) }
            announce.yield(path)
            announce.finish()
            return Self.response(.ok, Self.page)
        }

        private func takeShortcut(_ path: String) -> String? {
            state.withLock { state in
                guard let shortcut = state.shortcut, shortcut.path == path else { return nil }
                state.shortcut = nil
                return shortcut.target
            }
        }

        private static let page = document(
            "Outpost has the answer. You can close this page and go back to the terminal.")
        private static let otherPage = document("There is nothing here.")

        private static func document(_ text: TerminalText) -> String {
            """
            <!doctype html><html lang="\(Language.current.rawValue)"><meta charset="utf-8">\
            <title>Outpost</title><p>\(text)</p></html>\n
            """
        }

        private static func response(_ status: HTTPResponse.Status, _ page: String) -> (HTTPResponse, ByteStream) {
            var response = HTTPResponse(status: status)
            response.headerFields[.contentType] = "text/html; charset=utf-8"
            response.headerFields[.cacheControl] = "no-store"
            response.headerFields[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'"
            response.headerFields[.xContentTypeOptions] = "nosniff"
            if let policy = HTTPField.Name("Referrer-Policy") { response.headerFields[policy] = "no-referrer" }
            return (response, ByteStream(Array(page.utf8)))
        }
    }
}
