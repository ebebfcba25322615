import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataHTTP

/// Content that clients prefer to omit (OData Protocol 4.01, 8.2.8.4 and 8.2.8.6).
@Suite struct PreferredContentTests {
    @Test(
        "8.2.8.4 patterns of include-annotations select annotations",
        arguments: [
            ("*", "display.subject", true), ("-*", "display.subject", false), ("display.*", "display.subject", true),
            ("display.*", "other.subject", false), ("display.subject", "display.subject", true),
            ("display.*,-display.subject", "display.subject", false),
            ("-*,display.subject", "Name@display.subject", true), ("display.*#tablet", "display.subject#tablet", true),
            ("display.*#tablet", "display.subject", false), ("*,-display.*#tablet", "display.subject#tablet", false),
            ("-*", "Name@odata.navigationLink", true), ("", "display.subject", false),
        ])
    func patterns(_ preference: String, _ key: String, _ isIncluded: Bool) {
        #expect(AnnotationFilter(preference).includes(key: key) == isIncluded)
    }

    private func answer(_ prefer: String, _ path: String = "Customers('A')") async throws -> (HTTPResponse, String) {
        let provider = try ScriptedProvider { _ in
            let model = try ExampleService.model()
            let address = ODataEntity(shape: try #require(model.complexShape("Address")), ["City": .null, "Zip": "1"])
            var entity = ODataEntity(
                shape: try #require(model.shape(ofSet: "Customers")),
                ["ID": "A", "Name": .null, "Address": .complex(address), "Note": .null])
            entity.control.annotations = ["display.subject": "x", "Note@other.Reason": "hidden"]
            if path == "Customers" { return ODataResponse(body: .page(EntityPage(entities: [entity]))) }
            return ODataResponse(body: .entity(entity))
        }
        let handler = try ODataHandler(provider: provider, serviceRoot: "/service/")
        let (message, body) = Transcript.request("GET /service/\(path)\nPrefer: \(prefer)\n\n")
        let (response, stream) = await handler.handle(message, body)
        return (response, String(decoding: try await stream.collect(limit: 1 << 20), as: UTF8.self))
    }

    @Test("8.2.8.6 omit-values=nulls omits nulls, except those with annotations")
    func omitNulls() async throws {
        let (response, text) = try await answer("omit-values=nulls")
        #expect(response.headerFields[.preferenceApplied] == "omit-values=nulls")
        #expect(!text.contains("\"Name\"") && !text.contains("\"City\"") && text.contains("\"Zip\":\"1\""))
        #expect(text.contains("\"Note\":null"))
        let (plain, all) = try await answer("return=minimal")
        #expect(plain.headerFields[.preferenceApplied] == nil && all.contains("\"Name\":null"))
        let (page, many) = try await answer("omit-values=nulls", "Customers")
        #expect(page.headerFields[.preferenceApplied] == "omit-values=nulls" && !many.contains("\"Name\""))
    }

    @Test("8.2.8.4 excluded annotations are omitted, and the response says so")
    func annotations() async throws {
        let (response, text) = try await answer("include-annotations=\"-*,display.*\"")
        #expect(response.headerFields[.preferenceApplied] == "include-annotations=\"-*,display.*\"")
        #expect(text.contains("\"@display.subject\":\"x\"") && !text.contains("other.Reason"))
    }

    @Test("8.2.8.2 and 8.2.8.1 callbacks and references are not announced")
    func notApplied() async throws {
        let (response, _) = try await answer("callback; url=\"http://evil.example/\", allow-entityreferences, shiny")
        #expect(response.status == .ok && response.headerFields[.preferenceApplied] == nil)
    }
}

extension EntityDataModel {
    fileprivate func complexShape(_ name: String) -> TypeShape? { shape(QualifiedName("ODataDemo", name)) }
}
