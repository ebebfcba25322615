import HTTPTypes
import ODataService
import Testing

@testable import ODataHTTP

@Suite("An uploaded stream is never shown as a page of the service")
struct StreamProtectionTests {
    @Test(
        "a browser saves or shows a stream and never executes it",
        arguments: [
            ("text/html", "attachment"), ("image/svg+xml", "attachment"), ("application/pdf", "attachment"),
            ("application/octet-stream", "attachment"), ("image/png", "inline"),
            ("text/plain; charset=utf-8", "inline"),
            ("TEXT/HTML; x=y", "attachment"), ("text/html, image/png", "attachment"), ("no type", "attachment"),
        ])
    func fields(type: String, disposition: String) {
        var response = HTTPResponse(status: .ok, headerFields: [.contentType: type])
        StreamProtection.add(to: &response)
        #expect(response.headerFields[.contentDisposition] == disposition)
        #expect(response.headerFields[.xContentTypeOptions] == "nosniff")
        #expect(response.headerFields[.contentSecurityPolicy]?.contains("sandbox") == true)
        // A browser cannot mistake an invalid media type for one that it executes.
        #expect(response.headerFields[.contentType].flatMap { MediaType($0) } != nil)
    }
}
