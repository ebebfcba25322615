import ErrorCodes
import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataService
import Testing

/// Stable codes, localized messages and remedies.
@Suite struct ErrorTests {
    private struct Odd: Error {}

    private static let errors: [any Error] =
        [
            400, 401, 403, 404, 405, 406, 409, 410, 412, 413, 414, 415, 418, 422, 423, 424, 428, 429, 500, 501, 502,
            503, 504, 507,
        ]
        .map { ODataError(status: $0, code: "X", message: "said") } + [
            ODataError(status: 412, code: "X", message: "said", repeatabilityResult: .rejected),
            TransportError.invalidURL("u"), TransportError.cannotConnect(host: "h", reason: "r"),
            TransportError.untrustedCertificate(host: "h", reason: "r"),
            TransportError.clientCertificateRefused(host: "h", reason: "r"),
            TransportError.proxyAuthenticationRequired(proxy: "p"), TransportError.timedOut(host: "h"),
            TransportError.connectionLost(host: "h", reason: "r"), TransportError.truncated(host: "h", reason: "r"),
            TransportError.malformed(host: "h", reason: "r"), TransportError.tooLarge(host: "h", reason: "r"),
            TransportError.tooSlow(host: "h", reason: "r"), TransportError.plainHTTP(host: "h"),
            TransportError.foreignLink(origin: "o", service: "s"),
            TransportError.insecureLink(origin: "o", service: "s"),
            TransportError.unsupportedOption("o", transport: "t"),
            InvalidResponseError(status: 200, problem: .webPage(title: nil), url: "u"),
            InvalidResponseError(status: 200, problem: .mediaType(nil), url: "u"),
            InvalidResponseError(status: 200, problem: .malformed("x"), url: "u"),
            InvalidResponseError(status: 200, problem: .unknownContext(nil), url: "u"),
            InvalidResponseError(status: 302, problem: .redirect(to: nil), url: "u"),
            InvalidResponseError(status: 200, problem: .tooLarge(limit: 1), url: "u"),
            MetadataError.notFound(url: "u"), MetadataError.unauthorized(url: "u"), MetadataError.forbidden(url: "u"),
            MetadataError.webPage(url: "u", title: nil), MetadataError.notOData(url: "u", contentType: nil),
            MetadataError.redirected(url: "u", to: "v"),
            MetadataError.refused(url: "u", ODataError(status: 500, code: "", message: "")),
            CapabilityError(feature: "$filter", term: "t"), DataServiceError.unknownEntitySet("S"),
            DataServiceError.unexpectedAnswer(expected: "e"),
            EntityError.notLoaded(property: "p", type: QualifiedName("N", "T")),
            CancellationError(),
        ]

    @Test func `every error has a code of its own kind, a message in both languages and a hint`() {
        for error in Self.errors {
            let diagnosis = ErrorDiagnosis(error)
            #expect(diagnosis.code != .unknown, "\(error)")
            for locale in ["en", "de"] {
                let message = diagnosis.message(locale: locale)
                #expect(!message.isEmpty && !message.contains("{"), "\(error): \(message)")
                #expect(!diagnosis.recoveryHint(locale: locale).isEmpty, "\(error)")
            }
        }
        #expect(ErrorDiagnosis(Odd()).code == .unknown)
        #expect(ErrorDiagnosis(Odd()).message(locale: "en").contains("Odd"))
        for action in RecoveryAction.allCases {
            for locale in ["en", "de"] {
                #expect(ErrorMessages.standard.text("recovery.\(action.rawValue)", locale: locale) != nil)
            }
        }
    }

    @Test func `statuses are classed as recoverable or not`() {
        func kind(_ status: Int, retryAfter: Int? = nil) -> FailureKind {
            ErrorDiagnosis(ODataError(status: status, code: "", message: "", retryAfter: retryAfter)).kind
        }
        #expect(kind(503) == .transient)
        #expect(kind(429) == .transient)
        #expect(kind(409) == .conflict)
        #expect(kind(401) == .credentials)
        #expect(kind(404) == .missing)
        #expect(kind(500) == .service)
        #expect(kind(500, retryAfter: 5) == .transient)
        #expect(kind(504) == .inDoubt)
        #expect(ErrorDiagnosis(TransportError.connectionLost(host: "h", reason: "")).recovery == .lookBeforeRepeating)
        #expect(ErrorDiagnosis(TransportError.cannotConnect(host: "h", reason: "")).recovery == .checkConnection)
    }

    @Test func `a message is looked up by region, language, the app's preference, and English`() throws {
        let base = ErrorMessages(preferredLocalizations: ["fr-CA"])
        let messages = base.adding(
            ErrorMessageTable([
                "de_AT": ["k": "AT {host}"], "de": ["k": "DE", "l": "DE"], "fr_CA": ["l": "CA", "m": "CA"],
                "fr": ["n": "FR"], "en": ["k": "EN", "l": "EN", "m": "EN", "n": "EN", "o": "EN"],
            ]))
        #expect(messages.text("k", locale: "de_AT", arguments: ["host": "h{x}"]) == "AT h{x}")
        #expect(messages.text("k", locale: "de-AT") == "AT ")
        #expect(messages.text("l", locale: "de_AT") == "DE")
        #expect(messages.text("m", locale: "de_AT") == "CA")
        #expect(messages.text("n", locale: "de_AT") == "FR")
        #expect(messages.text("o", locale: "de_AT") == "EN")
        #expect(messages.text("p", locale: "de_AT") == nil)
    }

    @Test func `an app replaces messages, a table from a file among them`() throws {
        let table = try ErrorMessageTable(
            json: Data("{\"service.not-found\":\"Des gibt's ned: {message}\"}".utf8), locale: "de_AT")
        let error = ODataError(status: 404, code: "X", message: "Order 7")
        let messages = ErrorMessages(preferredLocalizations: []).adding(table)
        #expect(ErrorDiagnosis(error).message(locale: "de_AT", messages: messages) == "Des gibt's ned: Order 7")
        #expect(ErrorDiagnosis(error).message(locale: "de_DE", messages: messages) == "Das gibt es nicht: Order 7")
        #expect(ErrorDiagnosis(error).message(locale: "ja", messages: messages) == "Not found: Order 7")
        #expect(throws: (any Error).self) { try ErrorMessageTable(json: Data("[]".utf8), locale: "de") }
    }

    @Test func `the service's error, status, fields and request id are in it`() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in
            .json(
                "{\"error\":{\"code\":\"A\",\"message\":\"m\",\"target\":\"City\",\"details\":[{\"code\":\"B\",\"message\":\"n\"}]}}",
                status: 422, ["X-Request-ID": "r-1", "X-Trace": "t"])
        }
        let error = await #expect(throws: ODataError.self) { _ = try await transport.service().entities("Orders") }
        let diagnosis = ErrorDiagnosis(try #require(error))
        #expect(diagnosis.status == 422)
        #expect(diagnosis.requestID == "r-1")
        #expect(diagnosis.headers["X-Trace"] == "t")
        #expect(diagnosis.serviceError?.target == "City")
        #expect(diagnosis.serviceError?.details.map(\.code) == ["B"])
        #expect("\(diagnosis)" == "[service.unprocessable] The service refuses the values: m")
    }
}
