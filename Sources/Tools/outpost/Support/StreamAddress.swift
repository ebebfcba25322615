import ODataModel
import ODataQuery
import OfflineOData
import ToolLanguage

/// The address of a stream: of a media entity, or of a stream property.
struct StreamAddress {
    let url: ODataURL
    /// Whether the address is one of a set, in which a stream makes a new media entity.
    let isSet: Bool

    /// - Parameters:
    ///   - text: `Photos(1)` or `Photos(1)/$value` for the stream of a media entity, `Photos(1)/Thumbnail` for that of a
    ///     property.
    ///   - allowsSet: whether a set of media entities may be named.
    /// - Throws: ``Failure`` for the address of something else.
    init(_ text: String, in store: OfflineStore, allowsSet: Bool = false) throws {
        var url = try ODataURL(parsing: text)
        let target = try Binder(model: store.model).bind(url).resource.target
        isSet = if case .entities(let shape, _) = target { allowsSet && shape.hasStream } else { false }
        switch target {
        case .entity(let shape, _) where shape.hasStream: url.path.segments.append(.value)
        case .entities where isSet: break
        case .rawValue(nil): break
        case .property(let property, _) where property.type.primitive == .stream: break
        case .rawValue(let property?) where property.type.primitive == .stream: break
        case .entity(let shape, _), .entities(let shape, _): throw Self.none(text, shape)
        default: throw Failure(message: "\(text) is no stream.", advice: Self.advice, status: .misused)
        }
        self.url = url
    }

    private static let advice: TerminalText =
        "Name a media entity, such as 'Photos(1)', or a stream property, such as 'Photos(1)/Thumbnail'."

    private static func none(_ text: String, _ shape: TypeShape) -> Failure {
        let names = shape.properties.filter { $0.type.primitive == .stream }.map(\.name)
        return Failure(
            message: "\(text) has no stream of its own.",
            advice: names.isEmpty ? advice : "Its stream properties are \(names.joined(separator: ", ")).",
            status: .misused)
    }
}
