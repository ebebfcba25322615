import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

@testable import ODataHTTP

/// The service of the specification's numbered examples (OData CSDL 4.01, example 93 and OData Protocol 4.01), at
/// `http://host/service/`.
enum ExampleService {
    static let root = "http://host/service/"

    static func model(version: String = "4.01") throws -> EntityDataModel {
        try CSDLReader.read(
            xml: Array(metadata.replacing("Version=\"4.01\"", with: "Version=\"\(version)\"").utf8))
    }

    static func encoder(version: String = "4.01", batchFormat: BatchFormat = .multipart) throws -> RequestEncoder {
        RequestEncoder(serviceRoot: try ServiceRoot(root), model: try model(version: version), batchFormat: batchFormat)
    }

    static func requestDecoder() throws -> RequestDecoder {
        RequestDecoder(serviceRoot: try ServiceRoot(root), model: try model(), maxBodySize: 100_000)
    }

    static func responseDecoder() throws -> ResponseDecoder {
        ResponseDecoder(serviceRoot: try ServiceRoot(root), model: try model(), maxBodySize: 100_000)
    }

    static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01">
          <edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="ODataDemo">
              <EntityType Name="Product">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Name" Type="Edm.String"/>
                <Property Name="Price" Type="Edm.Decimal" Scale="2"/>
                <Property Name="Stock" Type="Edm.Int64"/>
                <Property Name="Color" Type="ODataDemo.Color"/>
                <Property Name="Tags" Type="Collection(Edm.String)" Nullable="false"/>
                <Property Name="Blob" Type="Edm.Binary"/>
                <NavigationProperty Name="Category" Type="ODataDemo.Category" Partner="Products"/>
              </EntityType>
              <EntityType Name="Book" BaseType="ODataDemo.Product"><Property Name="ISBN" Type="Edm.String"/></EntityType>
              <EntityType Name="Category">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Name" Type="Edm.String" Nullable="false"/>
                <NavigationProperty Name="Products" Type="Collection(ODataDemo.Product)" Partner="Category"/>
              </EntityType>
              <EntityType Name="Customer" OpenType="true">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.String" Nullable="false"/>
                <Property Name="Name" Type="Edm.String"/>
                <Property Name="Address" Type="ODataDemo.Address"/>
                <NavigationProperty Name="Orders" Type="Collection(ODataDemo.Order)" Partner="Customer"/>
              </EntityType>
              <EntityType Name="Order">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Amount" Type="Edm.Decimal" Scale="2"/>
                <Property Name="Placed" Type="Edm.DateTimeOffset"/>
                <NavigationProperty Name="Customer" Type="ODataDemo.Customer" Partner="Orders"/>
                <NavigationProperty Name="Items" Type="Collection(ODataDemo.OrderItem)" ContainsTarget="true"/>
              </EntityType>
              <EntityType Name="OrderItem">
                <Key><PropertyRef Name="Line"/></Key>
                <Property Name="Line" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Quantity" Type="Edm.Int32"/>
              </EntityType>
              <EntityType Name="Photo" HasStream="true">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Title" Type="Edm.String"/>
              </EntityType>
              <ComplexType Name="Address">
                <Property Name="City" Type="Edm.String"/>
                <Property Name="Zip" Type="Edm.String"/>
              </ComplexType>
              <EnumType Name="Color"><Member Name="Red"/><Member Name="Green"/><Member Name="Blue"/></EnumType>
              <Action Name="Rate" IsBound="true">
                <Parameter Name="product" Type="ODataDemo.Product" Nullable="false"/>
                <Parameter Name="stars" Type="Edm.Int32" Nullable="false"/>
                <Parameter Name="text" Type="Edm.String"/>
              </Action>
              <Action Name="Survey">
                <Parameter Name="stars" Type="Edm.Int32" Nullable="false"/>
                <Parameter Name="text" Type="Edm.String"/>
              </Action>
              <Action Name="Reset"/>
              <Function Name="MostExpensive">
                <ReturnType Type="ODataDemo.Product"/>
              </Function>
              <Function Name="Sum">
                <Parameter Name="a" Type="Edm.Int32"/><Parameter Name="b" Type="Edm.Int32"/>
                <ReturnType Type="Edm.Int32"/>
              </Function>
              <EntityContainer Name="DemoService">
                <EntitySet Name="Products" EntityType="ODataDemo.Product">
                  <NavigationPropertyBinding Path="Category" Target="Categories"/>
                </EntitySet>
                <EntitySet Name="Categories" EntityType="ODataDemo.Category">
                  <NavigationPropertyBinding Path="Products" Target="Products"/>
                </EntitySet>
                <EntitySet Name="Customers" EntityType="ODataDemo.Customer">
                  <NavigationPropertyBinding Path="Orders" Target="Orders"/>
                </EntitySet>
                <EntitySet Name="Orders" EntityType="ODataDemo.Order">
                  <NavigationPropertyBinding Path="Customer" Target="Customers"/>
                </EntitySet>
                <EntitySet Name="Photos" EntityType="ODataDemo.Photo"/>
                <Singleton Name="Contoso" Type="ODataDemo.Customer"/>
                <ActionImport Name="Reset" Action="ODataDemo.Reset"/>
                <ActionImport Name="Survey" Action="ODataDemo.Survey"/>
                <FunctionImport Name="MostExpensive" Function="ODataDemo.MostExpensive" EntitySet="Products"
                  IncludeInServiceDocument="true"/>
                <FunctionImport Name="Sum" Function="ODataDemo.Sum"/>
              </EntityContainer>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """
}

/// HTTP messages as text: the start line, the fields in order, an empty line and the body.
enum Transcript {
    static func text(_ message: HTTPRequest, _ body: ByteStream?) async throws -> String {
        let bytes = try await body?.collect(limit: 1 << 20) ?? []
        let host = message.authority.map { "Host: \($0)\n" } ?? ""
        return "\(message.method) \(message.path ?? "")\n\(host)\(fields(message.headerFields))\n"
            + String(decoding: bytes, as: UTF8.self)
    }

    static func text(_ message: HTTPResponse, _ body: ByteStream) async throws -> String {
        let bytes = try await body.collect(limit: 1 << 20)
        return "\(message.status.code)\n\(fields(message.headerFields))\n" + String(decoding: bytes, as: UTF8.self)
    }

    static func request(_ text: String) -> (HTTPRequest, ByteStream) {
        let (lines, body) = parts(text)
        let start = (lines.first ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        var message = HTTPRequest(
            method: HTTPRequest.Method(rawValue: start.first ?? "") ?? .get, scheme: "http", authority: "host",
            path: start.last)
        message.headerFields = fields(lines.dropFirst())
        return (message, ByteStream(body))
    }

    static func response(_ text: String) -> (HTTPResponse, ByteStream) {
        let (lines, body) = parts(text)
        let status = lines.first.flatMap { Int($0.prefix(3)) } ?? 0
        var message = HTTPResponse(status: .init(code: status))
        message.headerFields = fields(lines.dropFirst())
        return (message, ByteStream(body))
    }

    private static func parts(_ text: String) -> ([String], [UInt8]) {
        let cut = text.firstRange(of: "\n\n")
        let head = cut.map { text[..<$0.lowerBound] } ?? text[...]
        let body = cut.map { text[$0.upperBound...] } ?? ""
        return (head.split(separator: "\n").map(String.init), Array(body.utf8))
    }

    private static func fields(_ fields: HTTPFields) -> String {
        fields.map { "\($0.name.rawName): \($0.value)\n" }.joined()
    }

    private static func fields(_ lines: ArraySlice<String>) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
                continue
            }
            fields.append(
                HTTPField(name: name, value: HeaderTokens.trim(line[line.index(after: colon)...])))
        }
        return fields
    }
}

extension ODataURL {
    static func of(_ text: String) throws -> ODataURL { try ODataURL(parsing: text) }
}
