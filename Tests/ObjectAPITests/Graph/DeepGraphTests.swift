import Foundation
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

/// A tree of three levels in a store: projects with tasks with notes.
@Suite("A composite graph of three levels")
struct DeepGraphTests {
    private static let metadata = """
        <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
        <edmx:DataServices><Schema Namespace="Deep" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        \(type("Project", part: "Task"))\(type("Task", parent: "Project", part: "Note"))\(type("Note", parent: "Task"))
        <EntityContainer Name="Container">
          <EntitySet Name="Projects" EntityType="Deep.Project">
            <NavigationPropertyBinding Path="Tasks" Target="Tasks"/></EntitySet>
          <EntitySet Name="Tasks" EntityType="Deep.Task">
            <NavigationPropertyBinding Path="Project" Target="Projects"/>
            <NavigationPropertyBinding Path="Notes" Target="Notes"/></EntitySet>
          <EntitySet Name="Notes" EntityType="Deep.Note">
            <NavigationPropertyBinding Path="Task" Target="Tasks"/></EntitySet>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    private static func type(_ name: String, parent: String? = nil, part: String? = nil) -> String {
        var text = """
            <EntityType Name="\(name)"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false">
            <Annotation Term="Org.OData.Core.V1.Computed"/></Property>
            <Property Name="Text" Type="Edm.String"/>
            """
        if let parent {
            text += """
                <Property Name="\(parent)ID" Type="Edm.Int64"/>
                <NavigationProperty Name="\(parent)" Type="Deep.\(parent)" Partner="\(name)s">
                <ReferentialConstraint Property="\(parent)ID" ReferencedProperty="ID"/></NavigationProperty>
                """
        }
        if let part {
            text += """
                <NavigationProperty Name="\(part)s" Type="Collection(Deep.\(part))" Partner="\(name)">
                <Annotation Term="Outpost.Objects.V1.Composite"/></NavigationProperty>
                """
        }
        return text + "</EntityType>"
    }

    private static let held = ChangeOptions(isHeld: true)

    /// The letter of the change that waits for each row of the tree, from its root; `-` for a missing row.
    private func changes(_ store: OfflineStore) async throws -> String {
        try await store.changes.transaction { changes in
            try ["Projects", "Tasks", "Notes"].map { set in
                let id = try changes.entities(set).first?.control.id
                return try id.flatMap { try changes.entity(at: ODataURL(parsing: $0)) }?.replayState?.change.rawValue
                    ?? "-"
            }.joined()
        }
    }

    @Test("is submitted as one, gets its keys from the service, and shows a change at every ancestor")
    func levels() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        var options = StoreService.Options()
        options.requiresPrincipals = false
        let service = try await StoreService.open(
            ServiceDefinition(model: CSDLReader.read(xml: Array(Self.metadata.utf8))), at: .memory, options: options)
        let store = try await OfflineStore.create(
            at: directory.path, protection: .unencrypted, serviceRoot: "http://deep.test/", remote: service,
            queries: ["Projects", "Tasks", "Notes"].map { try DefiningQuery($0, $0) })
        try await store.download()
        let note = try await store.changes.transaction(options: Self.held, sendsTogether: false) { changes in
            let project = try changes.create("Projects", ["Text": "a"])
            let task = try changes.create("Tasks", ["Text": "b", "ProjectID": project["ID"] ?? .null])
            return try changes.create("Notes", ["Text": "c", "TaskID": task["ID"] ?? .null])
        }
        #expect(try await changes(store) == "CCC")
        try await store.upload()
        #expect(try await DataService(service).entities(ODataURL(parsing: "Projects")).isEmpty, "nothing is submitted")
        let row = try await store.changes.transaction { changes in
            try changes.entity(at: ODataURL(parsing: note.control.id ?? ""))?.replayState?.row
        }
        #expect(try await store.changes.submit(.entity(#require(row))) == 3)
        try await store.upload()
        try await store.download()
        #expect(try await changes(store) == "NNN")
        let found = try await DataService(service).entities(
            ODataURL(parsing: "Notes?$filter=Text eq 'c' and Task/Text eq 'b' and Task/Project/Text eq 'a'"))
        #expect(found.count == 1)

        try await store.changes.transaction(options: Self.held) { changes in
            try changes.update("Notes(\(found[0]["ID"]?.lexicalText ?? ""))", ["Text": "d"])
        }
        #expect(try await changes(store) == "PPU")
        let root = try await store.changes.transaction { changes in
            try changes.entities("Projects").first?.control.id.flatMap { id in
                try changes.entity(at: ODataURL(parsing: id))?.replayState?.row
            }
        }
        #expect(try await store.changes.cancel(.entity(#require(root))) == 1)
        #expect(try await changes(store) == "NNN")
    }
}
