import MobileServer
import ServerState
import Testing

@Suite("The configuration file of endpoints")
struct EndpointFileTests {
    private static var application: ApplicationConfiguration {
        var application = ApplicationConfiguration()
        application.destinations = ["northwind": DestinationConfiguration(url: "https://example.com/")]
        return application
    }

    private static let text = """
        # a comment
        [endpoint]
        name=northwind
        prepopulate_offline_db=SHARED-ONLY
        prepopulate_offline_db_interval=720
        indexed_type=NS.Product: Name ASC
        indexed_type=NS.Product: Price DESC
        defining_query_format=application/json;q=1
        case_sensitive_offline_db=N
        content_id_header_location=operation
        engine_option=17

        [defining_request]
        name=Products
        is_shared_data=Y
        refresh_interval=30
        track_deltas=ALWAYS
        delta_token_lifetime=1440
        secret_option=x
        """

    @Test("Known keys are applied, and unknown keys are kept for the export")
    func importing() throws {
        var warnings: [ConfigurationProblem] = []
        let read = try EndpointFile.applying(Self.text, path: "e.ini", to: Self.application, warnings: &warnings)
        let destination = try #require(read.destinations["northwind"])
        #expect(destination.prepopulation == .shared && destination.prepopulationInterval == .seconds(720 * 60))
        #expect(destination.store.indexes == ["NS.Product: Name ASC", "NS.Product: Price DESC"])
        #expect(!destination.store.isCaseSensitive && destination.store.contentID == "operation")
        let query = try #require(destination.queries["Products"])
        #expect(query.visibility == .shared && query.tracking == "compare" && query.query == "Products")
        #expect(query.refreshInterval == .seconds(1800) && query.tokenLifetime == .seconds(86_400))
        #expect(
            read.preserved == ["endpoint northwind/engine_option": "17", "query northwind Products/secret_option": "x"])
        #expect(warnings.map(\.line) == [11, 14, 19])
        let written = EndpointFile.text(of: read)
        #expect(written.contains("engine_option=17") && written.contains("secret_option=x"))
        let again = try EndpointFile.applying(written, path: "w.ini", to: read, warnings: &warnings)
        #expect(again == read)
    }

    @Test("All mistakes are reported with line and column")
    func mistakes() {
        let text = """
            early=1
            [endpoint]
            name=northwnd
            [endpoint]
            name=northwind
            case_sensitive_offline_db=perhaps
            nonsense
            [defining_query]
            name=Products
            track_deltas=SOMETIMES
            """
        var warnings: [ConfigurationProblem] = []
        do throws(ConfigurationError) {
            _ = try EndpointFile.applying(text, path: "e.ini", to: Self.application, warnings: &warnings)
            Issue.record("the mistakes were not found")
        } catch {
            let mistakes = error.problems.filter { !$0.isWarning }
            #expect(mistakes.map(\.line) == [1, 3, 6, 7, 10], "\(error)")
            #expect(mistakes.map(\.column) == [1, 6, 27, 1, 14])
            #expect(mistakes[1].message.contains("Did you mean northwind?"))
        }
    }

    @Test("Windows line ends, a byte order mark and white space do not matter")
    func lineEnds() throws {
        var warnings: [ConfigurationProblem] = []
        let text = "\u{FEFF}[endpoint]\r\n  name = northwind \r\ncase_sensitive_offline_db = N\r\n"
        let read = try EndpointFile.applying(text, path: "e.ini", to: Self.application, warnings: &warnings)
        #expect(read.destinations["northwind"]?.store.isCaseSensitive == false)
    }

    @Test("A file that is too large is refused")
    func size() {
        var warnings: [ConfigurationProblem] = []
        let text = String(repeating: "#\n", count: EndpointFile.sizeLimit)
        #expect(throws: ConfigurationError.self) {
            try EndpointFile.applying(text, path: "e.ini", to: Self.application, warnings: &warnings)
        }
    }
}
