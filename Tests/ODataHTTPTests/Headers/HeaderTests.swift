import HTTPTypes
import ODataModel
import ODataService
import Testing

@testable import ODataHTTP

@Suite struct MediaTypeTests {
    @Test func `a media type is read with its parameters, in any case and with any quotes`() throws {
        let type = try #require(MediaType("Application/JSON; OData.Metadata=full ;x=\"a;\\\"b\";q=0.25"))
        #expect(type.matches("application", "json"))
        #expect(type["odata.metadata"] == "full")
        #expect(type["x"] == "a;\"b")
        #expect(type.weight == 250)
        #expect(type.description == #"application/json;odata.metadata=full;x="a;\"b";q=0.250"#)
    }

    @Test func `a quote is a quote, even if a mark combines with it`() throws {
        let text = "a/b;x=\"\u{301};\\\"\u{301}\";y=1"
        let type = try #require(MediaType(text))
        let value = "\u{301};\"\u{301}"
        #expect(type["x"] == value)
        #expect(type["y"] == "1")
        #expect(type.description == text)
    }

    @Test(arguments: ["", "json", "/json", "application/", "a b/c", "a/b;=x", "a/b;q=2", "a/b;x", "a/b;q=high"])
    func `an invalid media type is refused`(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test func `JSON is recognised by its suffix too`() throws {
        #expect(try #require(MediaType("application/vnd.x+json")).isJSON)
        #expect(try !#require(MediaType("text/json")).isJSON)
    }
}

@Suite struct ContentNegotiationTests {
    private func agree(
        _ accept: String?, format: String? = nil, version: ODataVersion = .v401, charset: String? = nil,
        _ representation: ContentNegotiation.Representation = .json
    ) throws -> ContentNegotiation.Agreement {
        try ContentNegotiation(accept: accept, acceptCharset: charset, formatOption: format, version: version)
            .agree(on: representation)
    }

    @Test("8.2.1 without Accept, the response is JSON with minimal metadata")
    func noAccept() throws {
        #expect(try agree(nil).format == ResponseFormat(metadata: .minimal, version: .v401))
        #expect(try agree("*/*").format.metadata == .minimal)
        #expect(try agree("application/*;q=0.1").format.metadata == .minimal)
    }

    @Test("JSON 3.1 the metadata level and IEEE754Compatible are respected")
    func parameters() throws {
        #expect(try agree("application/json;odata.metadata=none").format.metadata == .none)
        #expect(try agree("application/json;metadata=full;IEEE754Compatible=true").format.isIEEE754Compatible)
        #expect(
            try agree("application/json;odata.metadata=full;odata.streaming=true").contentType
                == "application/json;odata.metadata=full;odata.streaming=true")
        #expect(
            try agree("application/json;charset=utf-8;metadata=none;ExponentialDecimals=false").contentType
                == "application/json;metadata=none;charset=utf-8")
        #expect(try agree("*/*").contentType == "application/json;metadata=minimal")
        #expect(
            try agree("application/json;metadata=full;streaming=true", version: .v4).contentType
                == "application/json;odata.metadata=full;odata.streaming=true")
    }

    @Test func `the greatest weight wins, then the more specific range`() throws {
        let first = "application/json;odata.metadata=none;q=0.5, application/json;odata.metadata=full;q=0.8, */*;q=0.1"
        #expect(try agree(first).format.metadata == .full)
        #expect(try agree("*/*, application/json;odata.metadata=none").format.metadata == .none)
        #expect(throws: ODataError.self) { try agree("text/html, application/json;q=0") }
    }

    @Test("8.2.1 a format with weight 0 is not used, even if a wider range allows it")
    func excluded() throws {
        #expect(throws: ODataError.self) { try agree("application/json;q=0, */*") }
        #expect(try agree("application/json;metadata=full;q=0, */*;q=0.1").format.metadata == .minimal)
        #expect(throws: ODataError.self) { try agree("text/*, */*;q=0") }
    }

    @Test("8.2.2 Accept-Charset without UTF-8 is 406")
    func acceptCharset() throws {
        #expect(try agree("application/json", charset: "iso-8859-1;q=0.5, UTF-8").isJSON)
        #expect(try agree(nil, charset: "*").isJSON)
        let error = #expect(throws: ODataError.self) { try agree(nil, charset: "iso-8859-1") }
        #expect(error?.status == 406)
        #expect(error?.target == "Accept-Charset")
        _ = try agree(nil, charset: "iso-8859-1", .raw)
    }

    @Test("8.2.1 a media range with unknown parameters does not match")
    func unknownParameters() {
        for accept in ["application/json;odata.metadata=most", "application/json;shiny=1", "text/html", "image/*"] {
            let error = #expect(throws: ODataError.self) { try agree(accept) }
            #expect(error?.status == 406)
            #expect(error?.message.contains("available: application/json") == true)
        }
    }

    @Test func `a malformed Accept is 400`() {
        let error = #expect(throws: ODataError.self) { try agree("json") }
        #expect(error?.status == 400)
        #expect(error?.target == "Accept")
    }

    @Test("URL 5.1.2 $format outranks Accept")
    func formatOption() throws {
        #expect(try agree("text/html", format: "json").format.metadata == .minimal)
        #expect(try agree(nil, format: "application/json;odata.metadata=none").format.metadata == .none)
        let error = #expect(throws: ODataError.self) { try agree("application/json", format: "atom") }
        #expect(error?.status == 406)
        #expect(error?.target == "$format")
        #expect(try agree(nil, format: "JSON").format.metadata == .minimal)
        #expect(throws: ODataError.self) { try agree(nil, format: "nonsense") }
    }

    @Test("11.1.2 metadata is XML unless JSON is preferred")
    func metadata() throws {
        for accept in [nil, "*/*", "application/*", "application/json;q=0.5, application/xml"] {
            #expect(try !agree(accept, .metadata).isJSON)
        }
        #expect(try agree("application/json", .metadata).isJSON)
        #expect(try agree(nil, format: "json", .metadata).isJSON)
        #expect(try !agree("application/json", format: "xml", .metadata).isJSON)
    }

    @Test func `metadata are XML, a count is text, a raw value has its own media type`() throws {
        _ = try agree("application/xml", .metadata)
        #expect(throws: ODataError.self) { try agree("text/html", .metadata) }
        _ = try agree("text/plain", .text)
        _ = try agree("text/plain;charset=utf-8", .text)
        _ = try agree("application/json", .text)
        _ = try agree("image/png", .raw)
        #expect(try !agree("multipart/mixed", .batch).isJSON)
        #expect(try agree("application/json", .batch).isJSON)
    }

    @Test("8.2.7 OData-MaxVersion limits the version of the response")
    func versions() throws {
        #expect(try VersionHeaders(version: nil, maxVersion: nil).responseVersion() == .v401)
        #expect(try VersionHeaders(version: "4.0", maxVersion: "4.0").responseVersion() == .v4)
        #expect(try VersionHeaders(version: "4.01", maxVersion: "4.01").responseVersion() == .v401)
        #expect(try VersionHeaders(version: "4.0", maxVersion: "5.0").responseVersion() == .v401)
        #expect(try VersionHeaders(version: nil, maxVersion: " 4.0;NetFx").responseVersion() == .v4)
        for bad in ["2.0", "3.0", "four", "", "4"] {
            #expect(throws: ODataError.self) { try VersionHeaders(version: nil, maxVersion: bad).responseVersion() }
            #expect(throws: ODataError.self) { try VersionHeaders(version: bad, maxVersion: nil).responseVersion() }
        }
    }
}

@Suite struct PreferenceTests {
    @Test("8.2.8 preferences are read with and without the prefix of 4.0")
    func reading() {
        let preferences = PreferenceFields.preferences([
            "respond-async, odata.maxpagesize=50", "return=minimal; foo, odata.track-changes",
            "odata.include-annotations=\"*,-a.b\", omit-values=nulls, wait=10, odata.continue-on-error, x=1",
        ])
        var expected = Preferences(maxPageSize: 50, returns: .minimal, trackChanges: true)
        expected.respondAsync = true
        expected.includeAnnotations = "*,-a.b"
        expected.omitValues = "nulls"
        expected.wait = 10
        expected.continueOnError = true
        expected.others = ["x=1"]
        #expect(preferences == expected)
    }

    @Test func `a value that makes no sense leaves the preference unknown`() {
        let preferences = PreferenceFields.preferences(["maxpagesize=0, return=everything, wait=soon"])
        #expect(preferences.maxPageSize == nil)
        #expect(preferences.returns == nil)
        #expect(preferences.others == ["maxpagesize=0", "return=everything", "wait=soon"])
    }

    @Test func `a written field reads back the same`() {
        var preferences = Preferences(maxPageSize: 7, returns: .representation, trackChanges: true)
        preferences.includeAnnotations = "display.*"
        preferences.omitValues = "defaults"
        preferences.allowEntityReferences = true
        for prefixed in [true, false] {
            let field = PreferenceFields.field(preferences, prefixed: prefixed)
            #expect(PreferenceFields.preferences([field ?? ""]) == preferences)
            #expect(field?.contains("odata.maxpagesize=7") == prefixed)
        }
        #expect(PreferenceFields.field(Preferences(), prefixed: true) == nil)
        #expect(
            PreferenceFields.applied(["odata.track-changes, return=minimal"]) == ["track-changes", "return=minimal"])
    }
}

@Suite struct ServiceRootTests {
    @Test func `URLs below the root are told from others`() throws {
        let root = try ServiceRoot("https://Host.example:8443/a/Service.svc")
        #expect(root.description == "https://Host.example:8443/a/Service.svc/")
        #expect(root.relative("https://host.example:8443/a/Service.svc/Orders?$top=1") == "Orders?$top=1")
        #expect(root.relative("/a/Service.svc/Orders") == "Orders")
        #expect(root.relative("Orders(1)") == "Orders(1)")
        #expect(root.relative("/a/Service.svc") == "")
        #expect(root.relative("/a/Service.svc?$format=json") == "?$format=json")
        #expect(root.relative("/a/Service.svcX") == nil)
        #expect(root.relative("https://other.example/a/Service.svc/Orders") == nil)
        #expect(root.url(for: "Orders") == "https://Host.example:8443/a/Service.svc/Orders")
        #expect(root.url(for: "/x") == "https://Host.example:8443/x")
        #expect(root.url(for: "http://y/") == "http://y/")
    }

    @Test func `a root that is only a path takes the host from the request`() throws {
        let root = try ServiceRoot("/odata")
        let request = HTTPRequest(method: .get, scheme: "https", authority: "h:1", path: "/odata/A")
        #expect(root.resolved(for: request).description == "https://h:1/odata/")
    }

    @Test(arguments: ["", "ftp://x/", "host/path", "https://", "//x/", "https://h/a b", "https://h/?q", "https://h/#f"])
    func `an invalid root is refused`(text: String) {
        #expect(throws: TransportError.self) { try ServiceRoot(text) }
    }

    @Test func `a password in a root is refused and not repeated`() {
        let error = #expect(throws: TransportError.self) { try ServiceRoot("https://ann:secret@h.example/") }
        #expect(error?.description.contains("secret") == false)
    }
}
