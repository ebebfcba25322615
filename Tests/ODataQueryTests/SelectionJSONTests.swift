import ODataModel
import ODataQuery
import Testing

@Suite("The JSON form of dynamic queries")
struct SelectionJSONTests {
    private func read(_ text: String) throws(SelectionError) -> Selection { try Selection(json: Array(text.utf8)) }

    @Test("Every part of a query is written and read back")
    func roundTrip() throws {
        let date = ODataValue.date(ODataDate(daysSinceEpoch: 20_000))
        let inner = Selection.from("Orders", as: "o").where(.attribute("o.CustomerID", .equal, .attribute("c.ID")))
            .select("o.Day", .column(.value(.string("x")), as: "text"))
        let selection = Selection.from(inner, as: "s").join("Customers", as: "c", on: .attribute("c.ID", .equal, 1))
            .where(
                .all([
                    .any([.attribute("c.Day", .lessThan, .value(date)), .not(.exists(inner))]),
                    .attribute(
                        "c.N", .in, .list([.integer(1), .null, .decimal(ODataDecimal("1.5") ?? ODataDecimal(0)), date])),
                    .state("isLocal", of: "c"), .state("isLocal", of: nil), .test(.value(.enumeration(3)), .equal, "x"),
                    .attribute("c.B", .equal, .value(.binary([1, 255]))), .attribute("City", .notNull),
                    .attribute(QueryAttribute(alias: nil, path: ["M.T", "X"]), .isNull),
                ])
            )
            .groupBy("c.City").having(.test(.count, .greaterThan, 1)).distinct()
            .select("c.City", .column(.average("c.N"), as: "mean"), .column(QueryOperand.selection(inner), as: "q"))
            .intersect(inner).unionAll(inner).orderBy("mean", descending: true).orderBy(.operand(.count)).skip(2).take(
                3)
        let json = try selection.json()
        #expect(try Selection(json: json) == selection, "\(String(decoding: json, as: UTF8.self))")
    }

    @Test("Numbers are integers and exact decimals")
    func numbers() throws {
        let selection = try read(
            """
            {"from": {"set": "A", "as": "a"}, "where": {"attribute": "a.x", "test": "in", "value": [1, 1.10, -7, 1e3]}}
            """)
        guard case .test(_, .in, .list(let values)?)? = selection.test else {
            Issue.record("\(selection)")
            return
        }
        #expect(
            values == [
                .integer(1), .decimal(ODataDecimal("1.1") ?? ODataDecimal(0)), .integer(-7),
                .decimal(ODataDecimal(1000)),
            ])
    }

    static let faults: [(String, String)] = [
        ("{}", ""), ("[]", ""), ("{\"from\": {\"set\": \"A\"}}", "from"), ("{\"from\": {\"as\": \"a\"}}", "from"),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}} x", ""),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"wher\": {}}", ""),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"take\": 1, \"take\": 2}", ""),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"take\": 1.5}", "take"),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"where\": {}}", "where"),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"where\": {\"test\": \"is\"}}", "where.test"),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"where\": {\"all\": [{\"not\": 3}]}}", "where.all[0].not"),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"where\": {\"state\": \"x\", \"any\": []}}", "where"),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"select\": [{\"as\": \"x\"}]}", "select[0]"),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"select\": [{\"value\": {}}]}", "select[0].value"),
        (
            "{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"select\": [{\"value\": {\"type\": \"Edm.Date\", \"constant\": \"x\"}}]}",
            "select[0].value.constant"
        ),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"orderBy\": [{\"descending\": true}]}", "orderBy[0]"),
        ("{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"combine\": [{\"operator\": \"union\"}]}", "combine[0]"),
        ("{\"from\": {\"query\": {\"from\": 1}, \"as\": \"a\"}}", "from.query.from"),
    ]

    @Test("A fault is an error that names its place", arguments: faults)
    func eachFault(text: String, place: String) {
        let error = #expect(throws: SelectionError.self) { try read(text) }
        #expect(error?.place == place, "\(error.map(\.description) ?? "")")
    }

    @Test("Depth and size have limits")
    func limits() {
        let depth = 10_000
        let deep = String(repeating: "{\"not\": ", count: depth) + "{}" + String(repeating: "}", count: depth)
        let nested = "{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"where\": \(deep)}"
        let tooDeep = #expect(throws: SelectionError.self) { try read(nested) }
        #expect(tooDeep?.kind == .limit("maxDepth"))
        let long = [UInt8](repeating: UInt8(ascii: " "), count: SelectionLimits.maxLength + 1)
        let tooLong = #expect(throws: SelectionError.self) { try Selection(json: long) }
        #expect(tooLong?.kind == .limit("maxLength"))
        let values = String(repeating: "1,", count: SelectionLimits.maxNodes) + "1"
        let many =
            "{\"from\": {\"set\": \"A\", \"as\": \"a\"}, \"where\": {\"attribute\": \"a\", \"test\": \"in\", \"value\": [\(values)]}}"
        let tooMany = #expect(throws: SelectionError.self) { try read(many) }
        #expect(tooMany?.kind == .limit("maxNodes"))
    }

    @Test("An attribute is parsed from its text and printed back")
    func attributes() {
        for text in ["c.City", "City", "c.Customer/City", ".M.T/City", "c.M.T/City", "Customer/City"] {
            #expect(QueryAttribute(text).description == text)
        }
        #expect(QueryAttribute("c.M.T/City") == QueryAttribute(alias: "c", path: ["M.T", "City"]))
        #expect(QueryAttribute(".City").description == "City")
    }
}
