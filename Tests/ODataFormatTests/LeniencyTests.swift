import ODataModel
import TestCorpus
import TestModels
import Testing

@testable import ODataFormat

@Suite("Deviations of services from the standard, and the time to read them")
struct LeniencyTests {
    @Test(
        "Edm.DateTime is read with Z or an offset, in JSON and in Atom",
        arguments: [
            ("2020-01-01T08:00:00Z", "2020-01-01T08:00:00"), ("2020-01-01T08:00:00+02:00", "2020-01-01T06:00:00"),
        ])
    func instants(text: String, value: String) throws {
        let model = try LegacyService.model()
        let body = #"{"d":{"__metadata":{"type":"Ref.Room"},"Id":"1","Built":"\#(text)"}}"#
        let entity = try VerboseEntityReader(model: model).read(Array(body.utf8), type: LegacyService.room).entity
        #expect(entity["Built"] == .dateTime(try #require(ODataDateTime(value))))
    }

    /// Returns the factor by which the time grows for eight times as much input.
    private func growth(_ work: (Int) throws -> Void) throws -> Double {
        func least(_ count: Int) throws -> Duration {
            try (0..<3).map { _ in try processorTime { try work(count) } }.min() ?? .zero
        }
        return try least(8_000) / least(1_000)
    }

    @Test("Undeclared members of an instance are searched once for its type")
    func undeclared() throws {
        let model = try SampleService.model()
        let legacy = try LegacyService.model()
        func members(_ count: Int) -> String { (0..<count).map { "\"m\($0)\":1" }.joined(separator: ",") }
        let v4 = try growth { count in
            _ = try EntityPayloadReader(model: model).read(
                Array("{\"ID\":1,\(members(count))}".utf8), type: SampleService.order)
        }
        #expect(v4 < 24, "64 where the time grows with the square")
        let v2 = try growth { count in
            _ = try VerboseEntityReader(model: legacy).read(
                Array("{\"d\":{\"Id\":\"1\",\(members(count))}}".utf8), type: LegacyService.room)
        }
        #expect(v2 < 24, "64 where the time grows with the square")
    }

    @Test("A type behind undeclared members is found")
    func lateType() throws {
        let body = ##"{"ID":1,"a":1,"b":2,"Hours":3,"@odata.type":"#Shop.RushOrder"}"##
        let entity = try EntityPayloadReader(model: SampleService.model()).read(
            Array(body.utf8), type: SampleService.order
        ).entity
        #expect(entity.shape.name == QualifiedName("Shop", "RushOrder"))
        #expect(entity["Hours"] == 3 && entity["a"] == 1 && entity["b"] == 2)
    }

    @Test("An XML error with many element names is read in one pass")
    func innerError() throws {
        let growth = try growth { count in
            let elements = (0..<count).map { "<e\($0)>x</e\($0)>" }.joined()
            let text = "<error><code>1</code><message>m</message><innererror>\(elements)</innererror></error>"
            _ = try ODataErrorPayload(xml: Array(text.utf8))
        }
        #expect(growth < 24, "64 where the time grows with the square")
    }

    @Test("JSON 20: an annotation keeps its type")
    func annotationType() throws {
        let model = try SampleService.model()
        let body = ##"{"@Core.When@odata.type":"#Date","@Core.When":"2020-01-01","ID":1}"##
        let entity = try EntityPayloadReader(model: model).read(Array(body.utf8), type: SampleService.order).entity
        var json = JSONWriter()
        EntityPayloadWriter(model: model, metadata: .minimal, version: .v401)
            .write(entity, declared: SampleService.order, context: nil, to: &json)
        let text = String(decoding: json.bytes, as: UTF8.self)
        let (type, value) = (text.range(of: "\"@Core.When@"), text.range(of: "\"@Core.When\":"))
        #expect(!text.contains("\"Core.When@"), "\(text)")
        if let type, let value { #expect(type.lowerBound < value.lowerBound, "\(text)") }
    }

    @Test("Requests contain no control information of the service, except that of nested collections")
    func requests() {
        var control = ControlInformation()
        control.id = "Orders(1)"
        control.etag = "W/\"1\""
        control.type = SampleService.order
        control.annotations = [
            "Customer@odata.navigationLink": "x", "Photo@odata.mediaEtag": "x", "#Shop.Close": "x",
            "odata.context": "x",
            "Items@odata.delta": .boolean(true), "Core.When": "x", "Freight@Core.Unit": "x",
        ]
        let outgoing = control.ofRequest
        #expect(outgoing.id == nil && outgoing.etag == nil && outgoing.type == SampleService.order)
        #expect(outgoing.annotations.keys.sorted() == ["Core.When", "Freight@Core.Unit", "Items@odata.delta"])
    }
}
