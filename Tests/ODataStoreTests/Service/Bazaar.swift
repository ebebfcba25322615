import Foundation
import GRDB
import ODataFormat
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

@testable import ODataSQL
@testable import ODataStore

/// A small service with one element of every kind, and short methods to send requests.
struct Bazaar {
    let service: StoreService
    let clock: Clock

    /// A clock that only tests advance.
    final class Clock: Sendable {
        private let seconds = Mutex<Int64>(1_800_000_000)
        var now: ODataDateTimeOffset { ODataDateTimeOffset(seconds: seconds.withLock { $0 }) }
        func advance(by count: Int64) { seconds.withLock { $0 += count } }
    }

    init(
        at place: StoreService.Place = .memory, options: StoreService.Options = StoreService.Options(),
        replacing changes: [String: String] = [:], _ change: (inout ServiceDefinition) throws -> Void = { _ in }
    ) async throws {
        let metadata = changes.reduce(Self.metadata) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
        var definition = ServiceDefinition(model: try CSDLReader.read(xml: Array(metadata.utf8)))
        definition.values = [
            .created("CreatedAt"), .modified("ModifiedAt"), .contentType("ContentType"), .contentLength("Size"),
            .slug("Name", of: QualifiedName("Bazaar", "Picture"), or: "unnamed"),
        ]
        definition.unique("Categories", "Name")
        definition.countChanges(of: "Products", in: "Version")
        definition.countChanges(of: "Shop", in: "Version")
        try change(&definition)
        let clock = Clock()
        var options = options
        options.now = { clock.now }
        self.clock = clock
        service = try await StoreService.open(definition, at: place, options: options)
    }

    static func name(_ name: String) -> QualifiedName { QualifiedName("Bazaar", name) }

    // MARK: Requests

    func request(
        _ method: ODataRequest.Method, _ url: String, _ json: String? = nil, ifMatch: String? = nil,
        ifNoneMatch: String? = nil, preferences: Preferences = Preferences(), principal: Principal? = nil
    ) throws -> ODataRequest {
        var request = ODataRequest(
            method, try ODataURL(parsing: url), preferences: preferences, ifMatch: ifMatch, ifNoneMatch: ifNoneMatch)
        request.context.principal = principal
        if let json { request.body = try body(json, request) }
        return request
    }

    /// Parses a JSON body according to the URL of the request.
    private func body(_ json: String, _ request: ODataRequest) throws -> RequestBody {
        let bytes = Array(json.utf8)
        let reader = EntityPayloadReader(model: service.model)
        let bound = try Binder(model: service.model).bind(request.url)
        switch bound.resource.target {
        case .operation(let operation):
            guard case .complex(let members) = try ODataValue(json: bytes, type: .complex(nil), model: service.model)
            else { return .none }
            var arguments: [String: ODataValue] = [:]
            for (name, value) in members.dynamicProperties {
                let type = operation.parameters.first { $0.name == name }?.type.primitive
                if type == .double, case .integer(let number) = value {
                    arguments[name] = .double(Double(number))
                } else if type == .double, case .decimal(let number) = value {
                    arguments[name] = .double(Double("\(number)") ?? 0)
                } else {
                    arguments[name] = value
                }
            }
            return .parameters(arguments)
        case .entities(let shape, _) where request.method != .create:
            var page = EntityPage()
            let object = "{\"value\":\(json)}"
            let payload = try EntityPayloadReader(model: service.model).members(of: object, shape.name)
            for entity in payload {
                guard let reason = entity.control.removedReason else {
                    page.entities.append(entity)
                    continue
                }
                page.removed.append(
                    RemovedEntity(
                        id: entity.control.id ?? "", key: entity.key, reason: reason == "deleted" ? .deleted : .changed,
                        etag: entity.control.etag))
            }
            return .delta(page)
        case .entities(let shape, _), .entity(let shape, _):
            return .entity(try reader.read(bytes, type: shape.name).entity)
        case .property(let property, _):
            let type = request.method == .create ? property.type.element : property.type
            return .value(try ValuePayload(json: bytes, type: type, model: service.model).value, property.type)
        case .references:
            guard case .complex(let object) = try ODataValue(json: bytes, type: .complex(nil), model: service.model)
            else { return .none }
            if case .collection(let members)? = object.dynamicProperties["value"] {
                return .references(
                    members.compactMap { if case .string(let id) = $0 { id } else { nil } })
            }
            if case .string(let id)? = object.dynamicProperties["id"] { return .reference(id) }
            return .none
        default: return .none
        }
    }

    @discardableResult
    func send(
        _ method: ODataRequest.Method, _ url: String, _ json: String? = nil, ifMatch: String? = nil,
        ifNoneMatch: String? = nil, preferences: Preferences = Preferences(), principal: Principal? = nil
    ) async throws -> ODataResponse {
        try await service.execute(
            try request(
                method, url, json, ifMatch: ifMatch, ifNoneMatch: ifNoneMatch, preferences: preferences,
                principal: principal))
    }

    /// Returns the error of a refused request; `nil` if it succeeds.
    func refusal(
        _ method: ODataRequest.Method, _ url: String, _ json: String? = nil, ifMatch: String? = nil,
        ifNoneMatch: String? = nil, preferences: Preferences = Preferences(), principal: Principal? = nil
    ) async throws -> ODataError? {
        let request = try request(
            method, url, json, ifMatch: ifMatch, ifNoneMatch: ifNoneMatch, preferences: preferences,
            principal: principal)
        do {
            _ = try await service.execute(request)
            return nil
        } catch {
            return error as? ODataError
        }
    }

    /// Creates an entity and returns it.
    @discardableResult
    func create(_ set: String, _ json: String) async throws -> ODataEntity {
        guard case .entity(let entity) = try await send(.create, set, json).body else {
            throw ODataError(status: 500, code: "Test", message: "No entity came back from \(set).")
        }
        return entity
    }

    func entity(_ url: String, principal: Principal? = nil) async throws -> ODataEntity? {
        guard case .entity(let entity) = try await send(.read, url, principal: principal).body else { return nil }
        return entity
    }

    func page(
        _ url: String, preferences: Preferences = Preferences(), principal: Principal? = nil
    ) async throws -> EntityPage {
        guard
            case .page(let page) = try await send(.read, url, preferences: preferences, principal: principal).body
        else { return EntityPage() }
        return page
    }

    func follow(_ link: String?, preferences: Preferences = Preferences()) async throws -> EntityPage {
        let request = ODataRequest(following: try #require(link), preferences: preferences)
        guard case .page(let page) = try await service.execute(request).body else { return EntityPage() }
        return page
    }

    func names(_ url: String, _ property: String = "Name", principal: Principal? = nil) async throws -> [String] {
        try await page(url, principal: principal).entities.compactMap { entity in
            if case .string(let text)? = entity[property] { text } else { nil }
        }
    }

    func text(_ url: String, principal: Principal? = nil) async throws -> ODataValue? {
        guard case .value(let value, _) = try await send(.read, url, principal: principal).body else { return nil }
        return value
    }

    /// Inserts a row into the link table of a navigation property, bypassing the requests.
    func relate(_ set: String, _ path: String, _ source: Int64, to target: Int64) async throws {
        guard case .link(_, let table, let own, let other)? = service.core.mapping.tables[set]?.navigation[path] else {
            throw ODataError.notFound(path)
        }
        try await service.database.write { database in
            try database.execute(
                sql: "INSERT INTO \(table.sqlIdentifier) (\(own.sqlIdentifier), \(other.sqlIdentifier)) VALUES (?, ?)",
                arguments: [source, target])
        }
    }

    // MARK: Model

    static let metadata = """
        <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
        <edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml">
        <edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/></edmx:Reference>
        <edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1.xml">
        <edmx:Include Namespace="Org.OData.Capabilities.V1" Alias="Capabilities"/></edmx:Reference>
        <edmx:DataServices><Schema Namespace="Bazaar" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <ComplexType Name="Address"><Property Name="Street" Type="Edm.String"/>
        <Property Name="City" Type="Edm.String" MaxLength="20"/></ComplexType>
        <EntityType Name="Product"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Guid" Nullable="false"><Annotation Term="Core.ComputedDefaultValue"/></Property>
        <Property Name="Name" Type="Edm.String" MaxLength="20" Nullable="false"/>
        <Property Name="Price" Type="Edm.Double" Nullable="false" DefaultValue="1"/>
        <Property Name="Version" Type="Edm.Int32" Nullable="false"/>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Nullable="false"><Annotation Term="Core.Computed"/></Property>
        <Property Name="Serial" Type="Edm.String"><Annotation Term="Core.Immutable"/></Property>
        <Property Name="Tags" Type="Collection(Edm.String)" Nullable="false"/>
        <Property Name="Address" Type="Bazaar.Address"/>
        <Property Name="CategoryID" Type="Edm.Int32"/>
        <Property Name="Photo" Type="Edm.Stream"/>
        <NavigationProperty Name="Category" Type="Bazaar.Category" Partner="Products">
        <ReferentialConstraint Property="CategoryID" ReferencedProperty="ID"/></NavigationProperty>
        <NavigationProperty Name="Texts" Type="Collection(Bazaar.ProductText)" Partner="Product">
        <OnDelete Action="Cascade"/></NavigationProperty>
        <NavigationProperty Name="Related" Type="Collection(Bazaar.Product)"/>
        </EntityType>
        <EntityType Name="Bargain" BaseType="Bazaar.Product"><Property Name="Discount" Type="Edm.Int32"/></EntityType>
        <EntityType Name="Category"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" Nullable="false"/>
        <NavigationProperty Name="Products" Type="Collection(Bazaar.Product)" Partner="Category"/></EntityType>
        <EntityType Name="ProductText"><Key><PropertyRef Name="ProductID"/><PropertyRef Name="Language"/></Key>
        <Property Name="ProductID" Type="Edm.Guid" Nullable="false"/>
        <Property Name="Language" Type="Edm.String" MaxLength="2" Nullable="false"/>
        <Property Name="Text" Type="Edm.String"/>
        <NavigationProperty Name="Product" Type="Bazaar.Product" Partner="Texts">
        <ReferentialConstraint Property="ProductID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
        <EntityType Name="Picture" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Guid" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" Nullable="false"/>
        <Property Name="ContentType" Type="Edm.String" Nullable="false"/>
        <Property Name="Size" Type="Edm.Int64"/>
        <Property Name="ModifiedAt" Type="Edm.DateTimeOffset" Nullable="false"/></EntityType>
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Owner" Type="Edm.String"/>
        <Property Name="Margin" Type="Edm.Int32"/>
        <NavigationProperty Name="Lines" Type="Collection(Bazaar.Line)" ContainsTarget="true"/>
        <NavigationProperty Name="Invoice" Type="Bazaar.Invoice" ContainsTarget="true"/>
        </EntityType>
        <EntityType Name="Line"><Key><PropertyRef Name="No"/></Key>
        <Property Name="No" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/></EntityType>
        <EntityType Name="Invoice"><Key><PropertyRef Name="Number"/></Key>
        <Property Name="Number" Type="Edm.Int32" Nullable="false"/><Property Name="Paid" Type="Edm.Boolean"/></EntityType>
        <EntityType Name="Note" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityType Name="Shop"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="Version" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="Container">
        <EntitySet Name="Products" EntityType="Bazaar.Product">
        <NavigationPropertyBinding Path="Category" Target="Categories"/>
        <NavigationPropertyBinding Path="Texts" Target="Texts"/>
        <NavigationPropertyBinding Path="Related" Target="Products"/>
        </EntitySet>
        <EntitySet Name="Categories" EntityType="Bazaar.Category">
        <NavigationPropertyBinding Path="Products" Target="Products"/></EntitySet>
        <EntitySet Name="Texts" EntityType="Bazaar.ProductText">
        <NavigationPropertyBinding Path="Product" Target="Products"/></EntitySet>
        <EntitySet Name="Pictures" EntityType="Bazaar.Picture"/>
        <EntitySet Name="Orders" EntityType="Bazaar.Order"/>
        <EntitySet Name="Notes" EntityType="Bazaar.Note"/>
        <EntitySet Name="Fixed" EntityType="Bazaar.Category">
        <Annotation Term="Capabilities.InsertRestrictions"><Record><PropertyValue Property="Insertable" Bool="false"/></Record></Annotation>
        <Annotation Term="Capabilities.UpdateRestrictions"><Record><PropertyValue Property="Updatable" Bool="false"/></Record></Annotation>
        <Annotation Term="Capabilities.DeleteRestrictions"><Record><PropertyValue Property="Deletable" Bool="false"/></Record></Annotation>
        </EntitySet>
        <Singleton Name="Shop" Type="Bazaar.Shop"/>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
}

extension EntityPayloadReader {
    /// Returns the entities in the array `value` of a JSON object.
    fileprivate func members(of json: String, _ type: QualifiedName) throws -> [ODataEntity] {
        try JSONScanner.scan(Array(json.utf8)) { (scanner) throws(JSONError) -> [ODataEntity] in
            var entities: [ODataEntity] = []
            try scanner.beginObject()
            _ = try scanner.nextKey()
            try scanner.beginArray()
            while try scanner.nextElement() { entities.append(try readInstance(&scanner, declared: type)) }
            return entities
        }
    }
}
