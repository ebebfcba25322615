import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 8: NaN")
struct NotANumberTests {
    @Test("equals itself if nobody changed it", arguments: ["Edm.Double", "Edm.Single"], [true, false])
    func unchanged(type: String, isDeleted: Bool) async throws {
        let desk = try await Desk { metadata in
            let text = #"<Property Name="Text" Type="Edm.String"/>"#
            return metadata.replacingOccurrences(
                of: text,
                with: text + #"<Property Name="Score" Type="\#(type)"/>"#
                    + #"<Property Name="Scores" Type="Collection(\#(type))"/>"#)
        }
        let value: ODataValue = type == "Edm.Double" ? .double(.nan) : .single(.nan)
        try await desk.service.create("Tickets", ["ID": 3, "Score": value, "Scores": .collection([value, value])])
        let store = try await desk.clone(hasETags: false)
        if isDeleted {
            try await store.delete("Tickets(3)")
        } else {
            let one: ODataValue = type == "Edm.Double" ? .double(1) : .single(1)
            try await store.update("Tickets(3)", ["Score": one, "Scores": .collection([one])])
        }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [isDeleted ? .delete : .update])
    }

    @Test("is a conflict if others replaced it with a number")
    func changed() async throws {
        let desk = try await Desk { metadata in
            let text = #"<Property Name="Text" Type="Edm.String"/>"#
            return metadata.replacingOccurrences(
                of: text, with: text + #"<Property Name="Score" Type="Edm.Double"/>"#)
        }
        try await desk.service.create("Tickets", ["ID": 3, "Score": .double(.nan)])
        let store = try await desk.clone(hasETags: false)
        try await store.delete("Tickets(3)")
        try await desk.service.update("Tickets(3)", ["Score": .double(1)])
        #expect(try await store.upload().failed.map(\.failure?.conflict) == [.changed])
    }
}
