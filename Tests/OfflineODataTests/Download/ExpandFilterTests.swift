import ODataClient
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 16: the filter of a query applies to its parts")
struct ExpandFilterTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
        <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <NavigationProperty Name="Notes" Type="Collection(T.Note)" Partner="Person"/></EntityType>
        <EntityType Name="Employee" BaseType="T.Person"><Property Name="Room" Type="Edm.String"/></EntityType>
        <EntityType Name="Note"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="PersonID" Type="Edm.Int32"/>
        <NavigationProperty Name="Person" Type="T.Person" Partner="Notes">
        <ReferentialConstraint Property="PersonID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
        <Function Name="IsNear" IsBound="true"><Parameter Name="person" Type="T.Person"/>
        <Parameter Name="km" Type="Edm.Int32"/><ReturnType Type="Edm.Boolean"/></Function>
        <EntityContainer Name="C"><EntitySet Name="People" EntityType="T.Person">
        <NavigationPropertyBinding Path="Notes" Target="Notes"/></EntitySet><EntitySet Name="Notes" EntityType="T.Note">
        <NavigationPropertyBinding Path="Person" Target="People"/></EntitySet></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """

    /// Returns the requests that a service of people and notes receives.
    private func asked(
        _ filter: String, expand: String = "Notes", of set: String = "People", parameters: [String: String] = [:]
    ) async throws -> [String] {
        let folder = Folder()
        let root = "http://people.test/"
        let asked = LockedNames()
        let service = Gateway(
            base: try ODataClient(
                serviceRoot: root, transport: PagesTransport(answers: ["$metadata": Self.metadata])),
            before: { request in
                if request.url.path.segments.last != .count { asked.append(request.url.description) }
                return ODataResponse(body: .page(EntityPage()))
            })
        let store = try await OfflineStore.create(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted, serviceRoot: root,
            remote: service, queries: [try DefiningQuery("q", "\(set)?$filter=\(filter)&$expand=\(expand)")])
        for (name, value) in parameters { try await store.queries.setParameter(name, to: value) }
        try await store.download()
        return asked.names
    }

    @Test(
        "follows the relation back through casts and type tests",
        arguments: [
            ("isof(T.Employee)", "isof(Person,T.Employee)"),
            ("isof(Name,Edm.String)", "isof(Person/Name,Edm.String)"),
            ("cast(ID,Edm.Int64) eq 7", "cast(Person/ID,Edm.Int64) eq 7"),
            ("T.Employee/Room eq 'A'", "Person/T.Employee/Room eq 'A'"),
        ])
    func casts(filter: String, part: String) async throws {
        let asked = try await asked(filter)
        let notes = asked.filter { $0.hasPrefix("Notes") }
        #expect(!notes.isEmpty && notes.allSatisfy { $0.contains("$filter=\(part)") }, "\(asked)")
    }

    @Test("is not split if a function depends on the parent")
    func functions() async throws {
        let asked = try await asked("T.IsNear(km=5)")
        #expect(!asked.isEmpty && asked.allSatisfy { $0.hasPrefix("People") && $0.contains("$expand=Notes") })
    }

    @Test("gets its parameters within casts and calls")
    func parameters() async throws {
        let cast = try await asked("cast(@id,Edm.Int32) eq ID", parameters: ["id": "7"])
        #expect(cast.allSatisfy { $0.contains("cast(7,Edm.Int32)") } && !cast.isEmpty, "\(cast)")
        let call = try await asked("T.IsNear(km=@km)", parameters: ["km": "5"])
        #expect(call.allSatisfy { $0.contains("T.IsNear(km=5)") } && !call.isEmpty, "\(call)")
    }

    @Test(
        "gets its parameters in every expression, and is refused without values",
        arguments: [
            ("ID in (@id,8)", "Notes"), ("case(ID eq @id:true,true:false)", "Notes"),
            ("Notes/any(n:n/ID eq @id)", "Notes"), ("Notes/$count($filter=ID eq @id) gt 0", "Notes"),
            ("Notes/$filter(ID eq @id)/$count gt 0", "Notes"), ("@mine&@mine=ID eq @id", "Notes"),
            ("ID gt 0&$orderby=case(ID eq @id:0,true:1)", "Notes"), ("ID gt 0", "Notes($orderby=ID add @id)"),
            ("ID gt 0", "Notes($compute=ID add @id as X)"), ("ID gt 0", "Notes($filter=PersonID in (@id,8))"),
            ("ID gt 0", "Notes($expand=Person($filter=ID eq @id))"),
        ])
    func parametersEverywhere(filter: String, expand: String) async throws {
        let asked = try await asked(filter, expand: expand, parameters: ["id": "7"])
        #expect(asked.contains { $0.contains("7") } && !asked.contains { $0.contains("@id") }, "\(asked)")
        await #expect(throws: OfflineError.self) { _ = try await self.asked(filter, expand: expand) }
    }

    @Test("keeps its own aliases, even if a parameter has the same name")
    func ownValue() async throws {
        let asked = try await asked("ID eq @id and Name eq @name&@id=9", parameters: ["id": "7", "name": "'A'"])
        #expect(asked.allSatisfy { $0.contains("@id=9") && !$0.contains("7") && $0.contains("'A'") }, "\(asked)")
    }

    @Test("is not split if nested options refer to the parent by $it")
    func parentInStep() async throws {
        let asked = try await asked("Notes/$count($filter=PersonID lt $it/ID) gt 0")
        #expect(!asked.isEmpty && asked.allSatisfy { $0.hasPrefix("People") && $0.contains("$expand=Notes") })
        let plain = try await self.asked("Notes/$count($filter=PersonID lt 5) gt 0")
        #expect(plain.contains { $0.hasPrefix("Notes?$filter=Person/Notes/$count($filter=PersonID lt 5) gt 0") })
    }
}
