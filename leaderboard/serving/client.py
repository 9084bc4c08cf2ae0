"""The address of a client, by which requests and submissions are counted."""

from ipaddress import IPv6Address, ip_address

from django.http import HttpRequest

UNKNOWN = "unknown"
IPV6_NETWORK = 64  # bits; one customer has at least such a network, and so 2**64 addresses


def client_address(request: HttpRequest) -> str:
    """Return the address that the request came from; of an IPv6 address the network, such as "2001:db8:1:2::/64".

    Behind a proxy, the web server must trust that proxy (docs/deployment.md), so that REMOTE_ADDR is the client's.
    All whose address is not known, as with a web server that listens on a Unix socket, count as one client, so that
    nobody is without limits.
    """
    text = str(request.META.get("REMOTE_ADDR", ""))
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return UNKNOWN
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    host_bits = 128 - IPV6_NETWORK
    return f"{IPv6Address(int(address) >> host_bits << host_bits)}/{IPV6_NETWORK}"
