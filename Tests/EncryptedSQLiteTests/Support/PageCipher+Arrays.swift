@testable import EncryptedSQLite

extension PageSealer {
    /// Returns the content of a sealed page of 4096 bytes, or `nil` if it does not open.
    func opened(_ sealed: [UInt8], authenticating data: [UInt8]) -> [UInt8]? {
        var content = [UInt8](repeating: 0, count: FileFormat.contentSize)
        let isOpen = content.withUnsafeMutableBytes { target in
            sealed.withUnsafeBytes { sealed in
                data.withUnsafeBytes { data in
                    guard let target = target.baseAddress, let sealed = sealed.baseAddress else { return false }
                    return open(sealed, authenticating: data, to: target)
                }
            }
        }
        return isOpen ? content : nil
    }
}

extension PageCipher {
    /// Returns a sealed page: nonce, encrypted content, tag.
    func sealed(_ content: [UInt8], at place: Place, nonce: [UInt8]) -> [UInt8] {
        var sealed = nonce + [UInt8](repeating: 0, count: FileFormat.pageSize - FileFormat.nonceSize)
        let isSealed = sealed.withUnsafeMutableBytes { target in
            content.withUnsafeBytes { content in
                withAssociatedData(of: place) { data in
                    guard let target = target.baseAddress, let content = content.baseAddress else { return false }
                    return sealer(for: place.kind, place.version).seal(
                        content, nonce: target, authenticating: data, to: target + FileFormat.nonceSize)
                }
            }
        }
        return isSealed ? sealed : []
    }

    /// Returns the content of a sealed page, or `nil` if it does not open at this place.
    func opened(_ sealed: [UInt8], at place: Place) -> [UInt8]? {
        withAssociatedData(of: place) { data in
            sealer(for: place.kind, place.version).opened(sealed, authenticating: Array(data))
        }
    }
}
