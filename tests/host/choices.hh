/* SPDX-License-Identifier: GPL-2.0 */
/* Where a test can go on in several ways, something has to choose one. */
#ifndef TESTS_HOST_CHOICES_HH
#define TESTS_HOST_CHOICES_HH

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace ring_test {

class Choices {
    public:
	/* A number below @ways. */
	virtual unsigned int choose(unsigned int ways) = 0;

    protected:
	~Choices() = default;
};

/*
 * Goes through the whole tree of choices, one path a run: the first run takes
 * way 0 everywhere, next() moves on to a path that has not been taken.
 */
class EveryPath final : public Choices {
    public:
	unsigned int choose(unsigned int ways) override
	{
		if (depth == path.size())
			path.push_back({0, ways});
		return path[depth++].way;
	}

	/* False when every path has been taken. */
	bool next()
	{
		path.resize(depth);
		depth = 0;
		while (!path.empty() && path.back().way + 1 == path.back().ways)
			path.pop_back();
		if (path.empty())
			return false;
		path.back().way++;
		return true;
	}

	/* The choices of the last run; runs of way 0 are counted. */
	std::string describe() const
	{
		std::string text;
		unsigned int zeros = 0;

		for (std::size_t i = 0; i < depth; i++) {
			if (path[i].way == 0) {
				zeros++;
				continue;
			}
			text += " 0x" + std::to_string(zeros) + " " + std::to_string(path[i].way);
			zeros = 0;
		}
		return text;
	}

    private:
	struct Choice {
		unsigned int way;
		unsigned int ways;
	};
	std::vector<Choice> path;
	std::size_t depth = 0;
};

inline unsigned long number_from_environment(const char *name, unsigned long otherwise)
{
	const char *text = std::getenv(name);

	if (!text || !*text)
		return otherwise;

	char *end = nullptr;
	const unsigned long value = std::strtoul(text, &end, 0);

	if (*end) {
		std::cerr << name << " is \"" << text << "\": set it to a whole number\n";
		std::exit(2);
	}
	return value;
}

/* Random, from PERFRING_SEED or a seed of its own; says which. */
class RandomChoices final : public Choices {
    public:
	RandomChoices()
		: seed(number_from_environment("PERFRING_SEED", std::random_device()())),
		  engine(seed)
	{
		std::cout << "PERFRING_SEED=" << seed << std::endl;
	}
	unsigned int choose(unsigned int ways) override
	{
		return static_cast<unsigned int>(engine() % ways);
	}

    private:
	const unsigned long seed;
	std::mt19937_64 engine;
};

/* How often a randomised test does its thing: PERFRING_ITERATIONS if set. */
inline unsigned long iterations(unsigned long otherwise)
{
	return number_from_environment("PERFRING_ITERATIONS", otherwise);
}

} // namespace ring_test

#endif
